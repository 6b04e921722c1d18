import CLibpq

/// The parameter arrays for libpq, reused.
struct ParameterBinding {
    private(set) var values: [UnsafePointer<CChar>?] = []
    private(set) var lengths: [Int32] = []
    private(set) var formats: [Int32] = []
    private(set) var types: [UInt32] = []

    /// Passes one statement to a non-blocking connection; 1 when libpq accepted it.
    mutating func send(
        _ query: Query, _ parameters: Parameters, _ statements: [Statement], _ handle: OpaquePointer
    ) -> Int32 {
        bind(parameters) { binding, count in
            switch query {
            case .statement(let index):
                PQsendQueryPrepared(
                    handle, statements[index].name, count, binding.values, binding.lengths, binding.formats, 1)
            case .sql(let sql):
                PQsendQueryParams(
                    handle, sql, count, binding.types, binding.values, binding.lengths, binding.formats, 1)
            }
        }
    }

    /// The pointers are only valid inside `body`.
    mutating func bind<Value>(_ parameters: Parameters, _ body: (ParameterBinding, Int32) -> Value) -> Value {
        parameters.bytes.withUnsafeBytes { bytes in
            for entry in parameters.entries {
                let start = bytes.baseAddress.map { ($0 + entry.offset).assumingMemoryBound(to: CChar.self) }
                values.append(entry.length < 0 ? nil : start)
                lengths.append(entry.length)
                formats.append(1)  // Binary.
                types.append(entry.type.oid)
            }
            defer {
                values.removeAll(keepingCapacity: true)
                lengths.removeAll(keepingCapacity: true)
                formats.removeAll(keepingCapacity: true)
                types.removeAll(keepingCapacity: true)
            }
            return body(self, Int32(clamping: parameters.count))
        }
    }
}
