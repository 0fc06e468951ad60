// swift-tools-version: 6.2

import PackageDescription

// Tests of resumable uploads with NIOResumableUpload of swift-nio-extras. Afar has no dependency on SwiftNIO, so the tests are a separate
// package. `check` builds and runs them.
let package = Package(
    name: "NIOUploadPeer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Afar", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.94.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    ],
    targets: [
        .target(
            name: "Server",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOResumableUpload", package: "swift-nio-extras"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "NIOUploadPeerTests",
            dependencies: [
                "Server",
                .product(name: "Afar", package: "Afar"),
                .product(name: "AfarResumableUploads", package: "Afar"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
