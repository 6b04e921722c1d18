// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "wall", platforms: [.iOS(.v17), .macOS(.v14)],
    // Outside this repository: .package(url: "https://git.example/touchsync.git", from: "0.2.0"), where you keep it.
    dependencies: [.package(name: "touchsync", path: "../../../..")],
    targets: [.executableTarget(name: "wall", dependencies: [.product(name: "TouchSyncClient", package: "touchsync")])])
