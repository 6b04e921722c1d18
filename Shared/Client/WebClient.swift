/// The client for web pages, as the gateway serves it.
package enum WebClient {
    /// The source of the JavaScript module, UTF-8.
    package static let module: [UInt8] = PackageResources.touchsync_js
}
