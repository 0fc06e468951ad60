// swift-tools-version: 6.2

import PackageDescription

// A client package that leaves out HTTP/2. `check` builds and runs it.
let package = Package(
    name: "WithoutHTTP2",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Afar", path: "../..", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    ],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [
                .product(name: "AfarHTTP", package: "Afar"),
                .product(name: "AfarTransport", package: "Afar"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ])
    ]
)
