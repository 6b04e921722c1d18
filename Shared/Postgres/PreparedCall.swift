/// A prepared statement that calls a function with named arguments: name, type and value of each are on one line.
///
///     PreparedCall<UserName>("claim", [.text("p_user") { $0.text }]) { "SELECT claim FROM claim_session(\($0))" }
///
/// The server matches the names with those of its function, so their order does not matter, and a name that only one
/// side knows makes the statement fail.
package struct PreparedCall<Input>: Sendable {
    /// For the connections that prepare it.
    package let statement: Statement
    /// In the order of the parameters.
    private let arguments: [Argument<Input>]

    /// - Parameters:
    ///   - name: unique on the connection.
    ///   - arguments: concatenated.
    ///   - sql: the statement around its arguments, which are passed as `p_room => $1, p_user => $2`.
    package init(_ name: String, _ arguments: [Argument<Input>]..., sql: (_ arguments: String) -> String) {
        let arguments = Array(arguments.joined())
        let list = arguments.enumerated().map { "\($0.element.name) => $\($0.offset + 1)" }
        self.statement = Statement(
            name: name, sql: sql(list.joined(separator: ", ")), parameterTypes: arguments.map(\.type))
        self.arguments = arguments
    }

    /// The parameters for an input; reuses the buffer's storage.
    package func parameters(_ input: Input, in buffer: inout ArgumentBuffer) -> Parameters {
        buffer.parameters.removeAll()
        for argument in arguments { argument.append(input, &buffer) }
        return buffer.parameters
    }

    package func parameters(_ input: Input) -> Parameters {
        var buffer = ArgumentBuffer()
        return parameters(input, in: &buffer)
    }
}

/// A buffer for assembling a call's parameters.
package struct ArgumentBuffer: Sendable {
    package var parameters = Parameters()
    /// For array arguments: the array that is being built.
    package var array = BinaryArray(of: .unspecified)

    package init() {}
}

/// One named argument of a function in the database.
package struct Argument<Input>: Sendable {
    package let name: String
    package let type: PostgresType
    let append: @Sendable (Input, inout ArgumentBuffer) -> Void

    /// - Parameter append: appends exactly one parameter of the type.
    package init(
        _ name: String, _ type: PostgresType, append: @escaping @Sendable (Input, inout ArgumentBuffer) -> Void
    ) {
        self.name = name
        self.type = type
        self.append = append
    }

    package static func int2(_ name: String, _ value: @escaping @Sendable (Input) -> Int16?) -> Self {
        Self(name, .int2) { $1.parameters.append(int2: value($0)) }
    }

    package static func int4(_ name: String, _ value: @escaping @Sendable (Input) -> Int32?) -> Self {
        Self(name, .int4) { $1.parameters.append(int4: value($0)) }
    }

    package static func int8(_ name: String, _ value: @escaping @Sendable (Input) -> Int64?) -> Self {
        Self(name, .int8) { $1.parameters.append(int8: value($0)) }
    }

    package static func text(_ name: String, _ value: @escaping @Sendable (Input) -> String?) -> Self {
        Self(name, .text) { $1.parameters.append(text: value($0)) }
    }
}
