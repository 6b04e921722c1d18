// The least that a server must do for bench --plain, in Node: peer.js PORT

const http = require("http").createServer();
const io = new (require("socket.io").Server)(http, { transports: ["websocket"], perMessageDeflate: false });
io.on("connection", socket => {
  // Answered with anything but {ok: false}.
  socket.on("room:join", ({ roomId }, done) => { socket.join(roomId); done({ ok: true }); });
  // Unchanged, to the other members of the room.
  socket.on("element:transforming", data => socket.to(data.roomId).emit("element:transforming", data));
  // For loads with commits: to all members including the sender, and answered.
  socket.on("element:transform", (data, done) => {
    io.to(data.roomId).emit("element:transformed", data);
    done({ ok: true });
  });
});
http.listen(Number(process.argv[2]), "127.0.0.1");
