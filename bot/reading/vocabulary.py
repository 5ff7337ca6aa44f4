"""Words by which an editor tells a section, a standing text or a farewell: the place to extend when one is misread."""

import re

_SECTION_WORDS = """
    学习 资讯 信号 工具 论文 要闻 产品 投融资 融资 投资 新闻 科技 财经 经济 国际 国内 海外 国外 全球 社会 体育 娱乐
    观点 开源 项目 活动 招聘 求职 教程 文章 视频 播客 书籍 图书 资源 大模型 小模型 模型 应用 硬件 软件 芯片 机器人
    行业 产业 政策 公司 企业 研究 学术 科研 技术 数据集 数据 安全 设计 职场 生活 健康 教育 文化 历史 本地 本市 城市
    天气 推荐 精选 其他 其它 热点 热门 头条 快讯 深度 访谈 专访 报告 会议 论坛 社区 社媒 社群 问答 专题 专栏 市场
    创投 创业 前沿 动态 进展 趋势 言论 金句 语录 好物 好文 博客 框架 算法 工程 实践 案例 评测 测评 基准 训练 推理
    多模态 视觉 语音 自动驾驶 智能体 开发者 开发 编程 代码 前端 后端 运维 云计算 医疗 金融 能源 环境 法律 法规 监管
    汽车 手机 游戏 音乐 电影 读书 阅读 美食 旅行 交通 民生 时政 军事 今日 本周 本期 每日 发布 更新 版本 人物 通知
    公告 速递 速览 速读 简讯 短讯 综合 新品 新知 科普 艺术 摄影 农业 房产 楼市 股市 宏观 商业 消费 电商 互联网
    人工智能 数学 物理 生物 化学 天文 航天 气象 自然 地理 心理 哲学 文学 周边 福利 榜单 数码 家居 亲子 时尚 校园
    就业 观察 国家 地方 区域 港澳 台湾 亚洲 欧洲 美洲 非洲 亮点 干货 笔记 周刊 导读 必读 荐读 重点 焦点 聚焦 关注
    解读 分析 评论 ai agents? llms? news tools? papers? products? research models? events? jobs? funding open source
    tutorials? articles? videos? podcasts? signals? learning industry policy opinions? releases? projects? business
    science tech technology world local sports? culture health security data infra hardware software quick links top
    stories
"""
_ALTERNATIVES = "|".join(sorted(_SECTION_WORDS.split(), key=len, reverse=True))
SECTION_NAME = re.compile(rf"(?:{_ALTERNATIVES}|[与和及&/、·+\s])+", re.IGNORECASE)

# buttons and placeholders that come along when a page is copied
CONTROL = re.compile(
    r"[\[(（]?(?:广告|推广|赞助|展开|收起|全文|展开全文|图片|视频号|点赞|分享|收藏|举报|返回|目录|返回目录|返回顶部|复制"
    r"|复制链接|阅读原文|阅读全文|查看更多|查看原文|查看全文|点击查看|点击展开|加载中|已编辑|转发|二维码"
    r"|回到顶部|暂时无法在飞书文档外展示此内容|image|advertisement|read more|details|back to top|top|back)[\])）]?",
    re.IGNORECASE,
)
# in the stream of news, but paid for
PROMOTION = re.compile(
    r"\W*(?:插播|广告|推广|赞助商?|商务合作|限时优惠|恰饭"
    r"|sponsored(?: by)?|sponsors?|advertisement|promoted|promotion|ad)"
    r"\s*(?:时间|内容|信息)?\s*[:：|｜】\])）]",
    re.IGNORECASE,
)
PROMOTION_NAME = re.compile(
    r"[(（\[【](?:赞助|广告|推广|商务|sponsored|sponsor|ad)[)）\]】]|^\W*(?:赞助商?|广告|推广|插播|sponsors?|sponsored)\W*$",
    re.IGNORECASE,
)
CONTENTS_NAME = re.compile(
    r"\W*(?:(?:本期|本文|今日)?(?:目录|索引|导航)|table of contents|contents|toc|outline)\W*", re.IGNORECASE
)
BACK_LINK = re.compile(
    r"\s*[\[(（]?\s*(?:back(?: to top)?|top|返回(?:目录|顶部)?|回到(?:目录|顶部)|↩\ufe0e?|⬆\ufe0f?|↑)\s*[\])）]$",
    re.IGNORECASE,
)
# headings of text that is about the digest, not in it
ABOUT_NAME = re.compile(
    r"\W*(?:(?:本期|今日|本周)?(?:小结|总结|导语|导读|前言|概述|看点|摘要|编者按|编者的话|写在前面|写在后面|写在最后|结语|结束语|后记)"
    r"|(?:免责|版权)?声明|关于(?:我们|本[报刊栏])?|联系我们|订阅(?:方式|本[报刊])?|往期.{0,6}|投稿.{0,4}|致谢|鸣谢|说明"
    r"|summary|about|subscribe|disclaimer|editor'?s note|credits|archive|license|contact)\s*(?:[(（][^)）]*[)）])?\W*",
    re.IGNORECASE,
)
# what is left of 百万元资助: no name starts with a unit or a particle
FRAGMENT = re.compile(r"[元万亿个年月日时分秒的地得了着过和与及或等吗呢吧，。、；：,.;:%％）)a-z0-9]")

STANDING = re.compile(
    r"欢迎|订阅|关注我们|扫码|扫描|社群|知识库|往期|合集|公众号|推送|进群|入群|交流群|投稿|转发|转给"
    r"|subscribe|welcome|newsletter",
    re.IGNORECASE,
)
STANDING_START = re.compile(
    r"点击|欢迎|扫码|扫描|关注|订阅|加入|添加|长按|如果|我们|本[报刊栏日]|每天|更多|往期|subscribe|welcome",
    re.IGNORECASE,
)
FAREWELL = re.compile(
    r"\W{0,8}(?:以上[就是为，,]|明[天日]见|下期再?见|我们(?:明天|下期)"
    r"|(?:多谢|感谢|谢谢)(?:阅读|大家|您|你|收看|关注|支持|各位|$)"
    r"|欢迎(?:大家|关注|订阅|转发|投稿|加入|扫码|各位)|免责声明|版权(?:所有|声明|说明|归)|声明[：:]"
    r"|(?:本文|本期|本报|日报)由[^，。]{1,16}(?:整理|编辑|编译|撰写|翻译|提供|生成)|(?:责任)?编辑[：:]"
    r"|扫码(?:关注|进群|加|订阅|入群)|关注我们|投稿(?:邮箱|方式|请|[：:])|联系我们|往期(?:回顾|合集|内容|精彩|日报|[：:])"
    r"|更多(?:内容|精彩|日报|往期|资讯)|(?:全文|本期)?完\W{0,8}$|the end\W{0,8}$|end\W{0,8}$"
    r"|thanks for reading|unsubscribe)",
    re.IGNORECASE,
)
# who made it and where there is more of it
IMPRINT = re.compile(
    r"\W*(?:主编|校对|排版|编译|整理|归档|存档|反馈|官网|editors?|archive|contact|feedback)\s*[:：]", re.IGNORECASE
)
INNER_HEADING = re.compile(
    r"背景|方法|结论|实验|总结|摘要|简介|概述|引言|结果|亮点|要点|小结|前言|核心观点|主要内容|主要贡献|编者按|点评"
)

# a line about the item, not of it
LABEL = re.compile(
    r"(?:贡献人|贡献者|推荐人|推荐者|投稿人?|作者|编辑|编译|译者|整理|撰文|记者|来源|出处|标签|关键词|分类|类型|时间|日期"
    r"|发布时间|author|editor|source|tags?|date|by)\s?[:：].|@[\w\-]+$",
    re.IGNORECASE,
)
LINK_LABEL = re.compile(
    r"[^\w]*(?:原文|文章|论文|项目|代码|资讯|新闻|阅读|查看|相关|参考|详情|来源|官网|下载|视频|仓库|全文|更多|体验|访问)*"
    r"(?:[一-鿿]{0,4}(?:链接|地址|网址)|原文|全文|详情|来源|出处|传送门|主页|官网|论文|代码|项目|更多"
    r"|links?|url|source|via|read more|github|arxiv|paper|code|project)?[\s:：>》→👉\-—(（\[【<]*",
    re.IGNORECASE,
)
POINTS_TO_LINK = re.compile(r"(?:详见|参见|请见|见|访问|前往|地址|链接|原文|来源|网址|全文)[\s:：]*$")

# a paragraph that begins like this is no second half of a broken sentence
OPENER = re.compile(
    r"此外|另外|首先|其次|再次|再者|然后|最后|最终|然而|但是|不过|因此|所以|总之|总的|综上|同时|同样|例如|比如|其中"
    r"|目前|未来|近日|今天|本文|本期|文章|文中|作者|该[^\s]|这[个种些项篇一]|据|相比|通过|为了|随着|对于|关于|如果|虽然"
    r"|尽管|第[一二三四五六七八九十]|[^\s：:，。]{1,10}[：:]"
)

_PAPER = (
    r"[日周週月早晚晨午夜快简速][报報]|[日周週月]刊|[晨早夜晚]读|早知道|\b(?:digest|daily|weekly|newsletter|briefing)"
)
PAPER_NAME = re.compile(rf"(?:{_PAPER})$", re.IGNORECASE)
DATED_NAME = re.compile(
    rf"(?:{_PAPER}|速览|速递|快讯|简讯|摘要|精选|合集|新闻|要闻|\b(?:news|bulletin|roundup))$"
    r"|^(?:每[日周]|今日|daily\b|news\b|weekly\b).{0,8}$",
    re.IGNORECASE,
)
DATE_WORDS = re.compile(
    r"(?:今天是|日期|时间|发布时间|发布日期|date|(?:last )?(?:updated|refreshed|generated)(?: (?:on|at))?)?\W*",
    re.IGNORECASE,
)

# columns of a table whose rows are items
COLUMNS = {
    role: re.compile(rf"(?:{names})", re.IGNORECASE)
    for role, names in {
        "title": r"(?:.*\b)?title|(?:论文|文章|新闻|项目|中文)?标题|名称|篇名|题目|name|paper"
        r"|论文|文章|项目|内容|事件|新闻",
        "link": r"pdf|links?|urls?|paper link|链接|地址|网址|原文(?:链接)?|论文链接|abs|abstract link|source url|详情",
        "date": r"(?:publish(?:ed)?|update[d]?|release)?\s*(?:date|time)|published|日期|时间|发布(?:日期|时间)",
        "number": r"#|序号|编号|no\.?|排名|rank|id",
        "tags": r"tags?|标签|关键词|keywords?|分类|category|categories",
        "source": r"source|来源|出处|媒体|venue",
    }.items()
}
NOTHING = re.compile(r"null|none|nil|n/?a|无|暂无|[-–—/]+", re.IGNORECASE)
