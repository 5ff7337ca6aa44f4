// An app that is made with the official Node SDK. Says in lines of JSON what it hears: {kind, what}.
// node stranger.cjs KINDS PORT                over HTTP, /events and /card
// node stranger.cjs KINDS PORT BASE_URL       over a long connection; PORT is not used
const http = require("node:http");
const lark = require("@larksuiteoapi/node-sdk");

const [kinds, port, baseUrl] = process.argv.slice(2);
const { APP_ID: appId, APP_SECRET: appSecret, ENCRYPT_KEY: encryptKey, TOKEN: verificationToken } = process.env;
const loggerLevel = lark.LoggerLevel.fatal;
const say = (kind, what) => console.log(JSON.stringify({ kind, what }));

const clicked = (data) => {
  say("card.action.trigger", data.action);
  const card = { schema: "2.0", body: { elements: [{ tag: "markdown", content: "收到" }] } };
  const toast = { type: "success", content: "收到" };
  return data.action.form_value ? { toast, card: { type: "raw", data: card } } : { toast };
};
const handlers = Object.fromEntries(JSON.parse(kinds).map((kind) => [kind, (data) => say(kind, data)]));
const events = new lark.EventDispatcher({ encryptKey, verificationToken, loggerLevel }).register(handlers);

if (baseUrl) {
  events.register({ "card.action.trigger": clicked });
  new lark.WSClient({ appId, appSecret, domain: baseUrl, loggerLevel }).start({ eventDispatcher: events });
} else {
  const cards = new lark.CardActionHandler({ encryptKey, verificationToken, loggerLevel }, clicked);
  const autoChallenge = true;
  const server = http.createServer();
  server.on("request", lark.adaptDefault("/feishu/events", events, { autoChallenge }));
  server.on("request", lark.adaptDefault("/feishu/card", cards, { autoChallenge }));
  server.listen(Number(port), "127.0.0.1", () => say("listening"));
}
