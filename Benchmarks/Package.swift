// swift-tools-version: 6.2

import Foundation
import PackageDescription

// AsyncHTTPClient takes minutes to build, so it is included only on request.
let hasPeers = ProcessInfo.processInfo.environment["PEERS"] == "1"

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Afar", path: "..", traits: [.defaults, "DiskCache"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/CoreOffice/XMLCoder", from: "0.18.0"),
    ],
    targets: [
        .target(name: "Servers", path: "Servers"),
        .target(name: "GatheringServer", path: "GatheringServer"),
        .executableTarget(name: "Bench", dependencies: ["GatheringServer", "Measurement", "Servers"], path: "Bench"),
        .target(name: "Measurement", path: "Measurement"),
        .executableTarget(
            name: "RawCurl", path: "Clients/RawCurl", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(name: "H2LoadClient", path: "Clients/H2Load"),
        .executableTarget(
            name: "AfarClient",
            dependencies: [
                "Measurement", .product(name: "Afar", package: "Afar"), .product(name: "AfarHTTP", package: "Afar"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Clients/Afar"
        ),
        .executableTarget(name: "URLSessionClient", dependencies: ["Measurement"], path: "Clients/URLSession"),
        .target(
            name: "RawXML", path: "RawXML", cSettings: [.unsafeFlags(["-I/usr/include/libxml2"])],
            linkerSettings: [.linkedLibrary("xml2")]),
        .executableTarget(
            name: "SerializerBench",
            dependencies: [
                "Measurement", "RawXML", .product(name: "AfarCore", package: "Afar"),
                .product(name: "AfarJSON", package: "Afar"),
                .product(name: "AfarSerializers", package: "Afar"), .product(name: "AfarXML", package: "Afar"),
                .product(name: "XMLCoder", package: "XMLCoder"),
            ],
            path: "Serializers"
        ),
        .executableTarget(
            name: "ImageBench",
            dependencies: ["Measurement", .product(name: "AfarImage", package: "Afar")],
            path: "Images", exclude: ["run", "thumbnails.py"]
        ),
        .executableTarget(
            name: "StoreBench",
            dependencies: [
                "Measurement", .product(name: "Afar", package: "Afar"),
                .product(name: "AfarDiskCache", package: "Afar"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Stores"
        ),
        .executableTarget(
            name: "WebSocketBench",
            dependencies: ["Measurement", "Servers", .product(name: "Afar", package: "Afar")],
            path: "WebSockets", exclude: ["echo-client.py", "echo-server.py"]
        ),
        .executableTarget(
            name: "ResilienceBench",
            dependencies: [
                "Measurement", "Servers", .product(name: "Afar", package: "Afar"),
                .product(name: "AfarResilience", package: "Afar"), .product(name: "AfarTestServer", package: "Afar"),
                .product(name: "AfarTransport", package: "Afar"),
            ],
            path: "Resilience"
        ),
        .executableTarget(
            name: "DownloadBench",
            dependencies: [
                "Measurement", "Servers", .product(name: "Afar", package: "Afar"),
                .product(name: "AfarParallelDownloads", package: "Afar"),
            ],
            path: "Downloads"
        ),
        .target(name: "Counters", path: "Counters"),
        .executableTarget(
            name: "Soak",
            dependencies: [
                "Counters", "Servers",
                .product(name: "Afar", package: "Afar"), .product(name: "AfarTestServer", package: "Afar"),
            ],
            path: "Soak"
        ),
    ],
    swiftLanguageModes: [.v6]
)

if hasPeers {
    package.dependencies += [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    ]
    package.targets.append(
        .executableTarget(
            name: "AsyncHTTPClientClient",
            dependencies: [
                "Measurement", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Clients/AsyncHTTPClient"
        ))
}

let targetsInC = ["RawCurl", "H2LoadClient", "RawXML", "Counters", "GatheringServer"]
for target in package.targets where !targetsInC.contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ]
}
