/// Escapes texts for connection strings and for SQL where parameters cannot be bound.
enum ConnectionText {
    /// libpq's `key='value'` form.
    static func keyValues(_ options: [String: String]) -> String {
        options.sorted { $0.key < $1.key }.map { key, value in
            "\(key)='\(String(value.flatMap { $0 == "'" || $0 == "\\" ? ["\\", $0] : [$0] }))'"
        }.joined(separator: " ")
    }

    /// A quoted SQL identifier.
    static func identifier(_ name: String) -> String {
        "\"\(String(name.flatMap { $0 == "\"" ? ["\"", "\""] : [$0] }))\""
    }
}
