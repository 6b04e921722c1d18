/// The client for web pages, as the gateway serves it.
package enum WebClient {
    /// The source of the JavaScript module, UTF-8.
    package static let source: [UInt8] = PackageResources.touchsync_js
    /// The same without comments and with short names, as `minify.sh` makes it.
    package static let module: [UInt8] = PackageResources.touchsync_min_js
    /// The module in the format of gzip (RFC 1952).
    package static let compressedModule: [UInt8] = PackageResources.touchsync_min_js_gz
}
