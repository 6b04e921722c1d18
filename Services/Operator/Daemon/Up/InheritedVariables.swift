/// The variables that a daemon of `touchsync up` inherits beside its settings.
enum InheritedVariables {
    /// What C libraries and the runtime read.
    private static let names: Set<String> = [
        "TOUCHSYNC_CONFIG", "PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "GLIBC_TUNABLES", "RES_OPTIONS",
        "LOCALDOMAIN", "HOSTALIASES", "SSL_CERT_FILE", "SSL_CERT_DIR", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]
    /// The loader, the allocator, the runtime, and programs that are built to be measured.
    private static let prefixes = ["LC_", "LD_", "MALLOC_", "SWIFT_", "LLVM_PROFILE_"]

    /// - Parameter usesDatabase: whether it reads the variables of libpq, of which one is a password.
    static func contains(_ name: String, usesDatabase: Bool) -> Bool {
        self.names.contains(name) || self.prefixes.contains { name.hasPrefix($0) }
            || (usesDatabase && name.hasPrefix("PG"))
    }
}
