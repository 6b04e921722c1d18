internal import ArgumentParser
internal import Boot
internal import JSONBytes
internal import Trust

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Makes and shows the key pairs of links over TCP.",
        subcommands: [KeysNewCommand.self, KeysShowCommand.self])
}

struct KeysNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Creates a file with a new key pair that only its owner can read.",
        discussion: "An existing file is never replaced.")

    @Argument(help: "The file to create.")
    var file: String
    @OptionGroup var peer: PeerOptions

    func run() throws {
        try TouchSyncCommand.running {
            let pair = KeyPair()
            if let refusal = FileBytes.create(self.file, with: Array(pair.fileText.utf8)) {
                throw OperatorFailure("\(self.file) \(refusal.reason)")
            }
            ProcessSetup.print(self.peer.text(pair.publicKey))
            return 0
        }
    }
}

struct KeysShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints a file's public key and its line for the peers file.",
        discussion: "The secret key is not printed.")

    @Argument(help: "A file of touchsync keys new.")
    var file: String
    @OptionGroup var peer: PeerOptions

    func run() throws {
        try TouchSyncCommand.running {
            do {
                ProcessSetup.print(self.peer.text(try LinkKeyFiles.keyPair(at: self.file).publicKey))
            } catch let refusal as SettingRefusal {
                throw OperatorFailure("\(self.file) \(refusal.reason)")
            }
            return 0
        }
    }
}

/// Whose key it is.
struct PeerOptions: ParsableArguments {
    @Option(help: "The daemon's role: gateway, coalescer, committer or fanout.")
    var role: PeerRole?
    @Option(help: "The daemon's name, or the beginning of its names with * behind it.")
    var name: String?
    @Flag(help: "Print one line of JSON: publicKey, peer.")
    var json = false

    /// The public key, and the line for the peers file.
    func text(_ key: PublicKey) -> String {
        let peer = "\(self.role?.rawValue ?? "ROLE") \(self.name ?? "NAME") \(key)"
        guard self.json else { return "\(key)\n\(peer)\n" }
        return JSONWriter.line { writer in
            writer.member("publicKey", "\(key)")
            writer.member("peer", peer)
        }
    }
}

extension PeerRole: ExpressibleByArgument {}
