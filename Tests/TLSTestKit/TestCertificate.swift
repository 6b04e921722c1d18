internal import Glibc

/// A certificate for `localhost` that vouches for itself, and its key, both valid for a day.
package struct TestCertificate: Sendable {
    /// PEM.
    package let certificate: String
    /// PEM.
    package let key: String

    /// Why there is none.
    struct Failure: Error {
        let output: String
    }

    /// A new one, made by `openssl`.
    package init() throws {
        let output = Self.output(
            of: "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
                + " -addext subjectAltName=DNS:localhost -keyout /dev/stdout 2>/dev/null")
        let begin = "-----BEGIN CERTIFICATE-----"
        guard let middle = output.firstRange(of: begin), output.contains("PRIVATE KEY") else {
            throw Failure(output: output)
        }
        self.key = String(output[..<middle.lowerBound])
        self.certificate = String(output[middle.lowerBound...])
    }

    private static func output(of command: String) -> String {
        guard let pipe = popen(command, "r") else { return "" }
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(pipe), byte != EOF { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
