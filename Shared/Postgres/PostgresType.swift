/// A type by its object id (catalog pg_type); the built-in ones never change.
package struct PostgresType: Hashable, Sendable {
    /// The object id; 0 lets the server infer the type.
    package var oid: UInt32

    package init(oid: UInt32) {
        self.oid = oid
    }

    /// The server infers the type from the statement.
    package static let unspecified = PostgresType(oid: 0)
    /// boolean
    package static let bool = PostgresType(oid: 16)
    /// name: identifiers in the catalogs
    package static let name = PostgresType(oid: 19)
    /// bigint
    package static let int8 = PostgresType(oid: 20)
    /// smallint
    package static let int2 = PostgresType(oid: 21)
    /// integer
    package static let int4 = PostgresType(oid: 23)
    /// text
    package static let text = PostgresType(oid: 25)
    /// json
    package static let json = PostgresType(oid: 114)
    /// double precision
    package static let float8 = PostgresType(oid: 701)
    /// character varying
    package static let varchar = PostgresType(oid: 1043)
    /// character(n)
    static let bpchar = PostgresType(oid: 1042)
    /// A literal whose type was not inferred.
    static let unknown = PostgresType(oid: 705)

    /// The array type over a type that ``BinaryArray`` appends; ``unspecified`` for any other.
    package static func array(of element: PostgresType) -> PostgresType {
        switch element {
        case .bool: PostgresType(oid: 1000)
        case .int4: PostgresType(oid: 1007)
        case .text: PostgresType(oid: 1009)
        case .int8: PostgresType(oid: 1016)
        case .float8: PostgresType(oid: 1022)
        case .json: PostgresType(oid: 199)
        default: .unspecified
        }
    }
}
