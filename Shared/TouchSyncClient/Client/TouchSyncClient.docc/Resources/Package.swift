// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "wall", platforms: [.macOS(.v14)], dependencies: [.package(path: "../touchsync")],
    targets: [.executableTarget(name: "wall", dependencies: [.product(name: "TouchSyncClient", package: "touchsync")])])
