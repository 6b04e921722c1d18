/// The Accept-Encoding field of a request (RFC 9110 section 12.5.3), such as `gzip, br;q=0.5, *;q=0`.
struct AcceptEncoding {
    /// Whether the answer may be in the format of gzip. Without the field, or without a word about it, it may not: nobody
    /// wants to find bytes that it cannot read.
    let allowsGzip: Bool

    /// - Parameter field: its value; `nil` if the request lacks it.
    init(_ field: String?) {
        var (gzip, others) = (Bool?.none, false)
        for entry in (field ?? "").lowercased().split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            // A weight of zero says no.
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            let isAllowed = weight.map { (Double($0) ?? 0) > 0 } ?? true
            switch parts.first {
            case "gzip", "x-gzip": gzip = isAllowed
            case "*": others = isAllowed
            default: break
            }
        }
        self.allowsGzip = gzip ?? others
    }
}
