import CWebClient

/// The client for web pages, as the gateway serves it.
package enum WebClient {
    /// The source of the JavaScript module, UTF-8.
    package static let source = bytes(client_source())
    /// The same without comments and with short names, as `minify.sh` makes it.
    package static let module = bytes(client_module())
    /// The module in the format of gzip (RFC 1952).
    package static let compressedModule = bytes(client_compressed_module())
    /// Where each part of it is in the source, for debuggers: a source map (ECMA-426).
    package static let sourceMap = bytes(client_source_map())
    /// The module of hit tests and corners, minified.
    package static let projection = bytes(client_projection())
    /// The module that keeps edits in the browser, minified.
    package static let store = bytes(client_store())
    /// The module of hooks for React, minified.
    package static let react = bytes(client_react())
    /// What each module declares to apps in TypeScript.
    package static let types = [
        "touchsync": bytes(client_types()), "projection": bytes(client_projection_types()),
        "store": bytes(client_store_types()), "react": bytes(client_react_types()),
    ]

    private static func bytes(_ file: client_file) -> [UInt8] {
        Array(UnsafeBufferPointer(start: file.content, count: Int(file.size)))
    }
}
