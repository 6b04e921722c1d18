internal import SocketIO

/// What a Socket.IO session has on top of Engine.IO.
final class SocketIOLayer {
    let application: any SocketIOApplication
    var table: NamespaceTable<SocketIOSocket>
    /// The joined main namespace, which nearly every packet is for.
    var root: SocketIOSocket?
    /// Only there while attachments are due.
    var assembler: PacketAssembler?

    init(_ application: any SocketIOApplication, _ configuration: SocketIOServer.Configuration) {
        self.application = application
        self.table = NamespaceTable(limit: configuration.maxNamespaces)
    }
}
