// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Afar",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Afar", targets: ["Afar"]),
        .library(name: "AfarCore", targets: ["AfarCore"]),
        .library(name: "AfarTransport", targets: ["AfarTransport"]),
        .library(name: "AfarTrust", targets: ["AfarTrust"]),
        .library(name: "AfarPublicSuffix", targets: ["AfarPublicSuffix"]),
        .library(name: "AfarSerializers", targets: ["AfarSerializers"]),
        .library(name: "AfarCompression", targets: ["AfarCompression"]),
        .library(name: "AfarCurl", targets: ["AfarCurl"]),
        .library(name: "AfarXML", targets: ["AfarXML"]),
        .library(name: "AfarURLSession", targets: ["AfarURLSession"]),
        .library(name: "AfarLogging", targets: ["AfarLogging"]),
        .library(name: "AfarReachability", targets: ["AfarReachability"]),
        .library(name: "AfarHAR", targets: ["AfarHAR"]),
        .library(name: "AfarTesting", targets: ["AfarTesting"]),
        .library(name: "AfarConformance", targets: ["AfarConformance"]),
        .library(name: "AfarTestServer", targets: ["AfarTestServer"]),
        .library(name: "AfarDiskCache", targets: ["AfarDiskCache"]),
        .library(name: "AfarJSON", targets: ["AfarJSON"]),
        .library(name: "AfarYAML", targets: ["AfarYAML"]),
        .library(name: "AfarImage", targets: ["AfarImage"]),
        .library(name: "AfarCSV", targets: ["AfarCSV"]),
        .library(name: "AfarProtobuf", targets: ["AfarProtobuf"]),
        .library(name: "AfarNetworkActivity", targets: ["AfarNetworkActivity"]),
        .library(name: "AfarMetrics", targets: ["AfarMetrics"]),
        .library(name: "AfarPublishers", targets: ["AfarPublishers"]),
        .library(name: "AfarTracing", targets: ["AfarTracing"]),
        .executable(name: "afar", targets: ["AfarCLI"]),
    ],
    traits: [
        .trait(name: "DiskCache", description: "AfarDiskCache: a cache on disk, in SQLite (brings GRDB)."),
        .trait(name: "Logging", description: "AfarLogging: requests are logged with swift-log (brings that)."),
        .trait(
            name: "Metrics",
            description: "AfarMetrics: requests are counted and timed with swift-metrics (brings that)."),
        .trait(
            name: "Protobuf", description: "AfarProtobuf: messages of Protocol Buffers (brings swift-protobuf)."),
        .trait(
            name: "Publishers",
            description: "AfarPublishers: responses as publishers of Combine, or of OpenCombine (brings that)."),
        .trait(
            name: "Tool", description: "The command-line tool `afar` (brings ArgumentParser and GRDB).",
            enabledTraits: ["DiskCache"]),
        .trait(
            name: "Tracing",
            description: "AfarTracing: requests are spans of swift-distributed-tracing (brings that)."),
        .trait(name: "YAML", description: "AfarYAML: responses and parameters in YAML (brings Yams)."),
        .default(enabledTraits: []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(
            name: "AfarTrust", dependencies: [.target(name: "COpenSSL", condition: .when(platforms: [.linux]))]
        ),
        .target(
            name: "AfarTransport",
            dependencies: ["AfarTrust", "CZlib", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .systemLibrary(name: "CLibpsl", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .target(
            name: "AfarPublicSuffix",
            dependencies: ["AfarTransport", .target(name: "CLibpsl", condition: .when(platforms: [.linux]))]
        ),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .target(
            name: "AfarWebSocket",
            dependencies: [
                "AfarTransport", "CZlib", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .systemLibrary(name: "CStack"),
        .target(
            name: "AfarCore",
            dependencies: [
                "AfarTransport", "AfarWebSocket", "CStack", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(name: "AfarCharsets"),
        .target(
            name: "AfarSerializers",
            dependencies: ["AfarCore", "AfarCharsets", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .target(name: "AfarCompression", dependencies: ["AfarCore", "CZlib"]),
        .systemLibrary(
            name: "CLibxml2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]
        ),
        .target(
            name: "AfarXML",
            dependencies: [
                "AfarCore", "AfarSerializers", "CLibxml2", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .systemLibrary(
            name: "CLibcurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .target(
            name: "AfarCurl",
            dependencies: [
                "AfarTransport", "AfarTrust", "CLibcurl",
                .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "AfarURLSession",
            dependencies: ["AfarTransport", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .target(
            name: "AfarLogging",
            dependencies: [
                "AfarCore",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
            ]
        ),
        .systemLibrary(name: "CNetlink"),
        .target(
            name: "AfarReachability",
            dependencies: [.target(name: "CNetlink", condition: .when(platforms: [.linux]))]
        ),
        .target(
            name: "AfarHAR",
            dependencies: ["AfarCore", "AfarTransport", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .target(
            name: "AfarTesting",
            dependencies: [
                "AfarHAR", "AfarCore", "AfarTransport", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(name: "AfarTestServer"),
        .target(
            name: "AfarConformance",
            dependencies: [
                "AfarTransport", "AfarTestServer", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "AfarYAML",
            dependencies: [
                "AfarCore", "AfarSerializers",
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["YAML"])),
            ],
            path: "Plugins/AfarYAML"
        ),
        .systemLibrary(name: "CSpng", pkgConfig: "spng", providers: [.apt(["libspng-dev"]), .brew(["libspng"])]),
        .systemLibrary(
            name: "CTurboJPEG", pkgConfig: "libturbojpeg",
            providers: [.apt(["libturbojpeg0-dev"]), .brew(["jpeg-turbo"])]
        ),
        // The module map links libwebp, libwebpdemux and libwebpmux; their headers lie in one folder.
        .systemLibrary(
            name: "CWebP", pkgConfig: "libwebpmux", providers: [.apt(["libwebp-dev"]), .brew(["webp"])]
        ),
        .systemLibrary(
            name: "CPixman", pkgConfig: "pixman-1", providers: [.apt(["libpixman-1-dev"]), .brew(["pixman"])]
        ),
        .target(
            name: "AfarImage",
            dependencies: [
                "AfarCore", "AfarTransport", "CPixman", "CSpng", "CTurboJPEG", "CWebP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Plugins/AfarImage"
        ),
        .target(
            name: "CJSONDocument",
            cxxSettings: [
                // Debian's library was built with it, and its header lays out a structure otherwise without it. pkg-config
                // says so too, but the package manager warns of that and leaves it out.
                .define("SIMDJSON_THREADS_ENABLED", to: "1"),
                .enableWarning("all"), .treatAllWarnings(as: .error),
            ],
            linkerSettings: [.linkedLibrary("simdjson")]
        ),
        .target(
            name: "AfarJSON",
            dependencies: ["AfarCore", "AfarSerializers", "AfarTransport", "CJSONDocument", "CStack"],
            path: "Plugins/AfarJSON"
        ),
        .target(
            name: "AfarCSV",
            dependencies: [
                "AfarCore", "AfarSerializers", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Plugins/AfarCSV",
            packageAccess: false
        ),
        .target(
            name: "AfarProtobuf",
            dependencies: [
                "AfarCore", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["Protobuf"])),
            ],
            path: "Plugins/AfarProtobuf",
            packageAccess: false
        ),
        .target(
            name: "AfarMetrics",
            dependencies: [
                "AfarCore", "AfarTransport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            path: "Plugins/AfarMetrics"
        ),
        .target(
            name: "AfarPublishers",
            dependencies: [
                "AfarCore", "AfarSerializers", "AfarTransport",
                .product(
                    name: "OpenCombine", package: "OpenCombine",
                    condition: .when(platforms: [.linux], traits: ["Publishers"])),
            ],
            path: "Plugins/AfarPublishers"
        ),
        .target(
            name: "AfarTracing",
            dependencies: [
                "AfarCore", "AfarTransport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
            ],
            path: "Plugins/AfarTracing"
        ),
        .target(
            name: "AfarDiskCache",
            dependencies: [
                "AfarTransport", "CZlib", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["DiskCache"])),
            ],
            path: "Plugins/AfarDiskCache"
        ),
        .target(name: "AfarNetworkActivity", dependencies: ["AfarCore"], path: "Plugins/AfarNetworkActivity"),
        .target(
            name: "Afar",
            dependencies: [
                "AfarCore", "AfarSerializers", "AfarCompression", "AfarPublicSuffix", "AfarReachability",
                "AfarURLSession",
                .target(name: "AfarCurl", condition: .when(platforms: [.linux])),
            ]
        ),
        .executableTarget(
            name: "AfarCLI",
            dependencies: [
                "Afar", "AfarDiskCache", "AfarHAR", "AfarImage", "AfarNetworkActivity", "AfarTestServer", "AfarXML",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
            ]
        ),
        .testTarget(name: "AfarTrustTests", dependencies: ["AfarTrust", "TestServers"]),
        .testTarget(
            name: "AfarTransportTests",
            dependencies: [
                "AfarTransport", "AfarCore", "AfarTesting", "CZlib", "CookieProbe", "TestServers",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .executableTarget(name: "CookieProbe", dependencies: ["AfarTransport"], path: "Tests/CookieProbe"),
        .testTarget(name: "AfarPublicSuffixTests", dependencies: ["AfarPublicSuffix", "AfarTransport"]),
        .testTarget(
            name: "AfarWebSocketTests",
            dependencies: ["AfarWebSocket", "AfarTransport", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .testTarget(
            name: "AfarCoreTests",
            dependencies: ["AfarCore", "AfarTesting", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .testTarget(
            name: "AfarURLSessionTests",
            dependencies: ["AfarURLSession", "AfarCore", .product(name: "HTTPTypes", package: "swift-http-types")]
        ),
        .testTarget(
            name: "AfarLoggingTests",
            dependencies: [
                "AfarLogging", "AfarCore", "AfarTesting",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
            ]
        ),
        .testTarget(
            name: "AfarConformanceTests",
            dependencies: [
                "AfarConformance", "AfarCore", "AfarTesting", "AfarTestServer", "AfarURLSession",
                .target(name: "AfarCurl", condition: .when(platforms: [.linux])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AfarHARTests",
            dependencies: [
                "AfarHAR", "AfarCore", "AfarSerializers", "AfarTesting", "AfarTestServer",
                .target(name: "AfarCurl", condition: .when(platforms: [.linux])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["browser.har", "har-1.2.schema.json"]
        ),
        .testTarget(
            name: "AfarTestingTests",
            dependencies: [
                "AfarTesting", "AfarCore", "AfarSerializers", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AfarReachabilityTests",
            dependencies: [
                "AfarReachability", "ReachabilityProbe",
                .target(name: "CNetlink", condition: .when(platforms: [.linux])),
            ]
        ),
        .testTarget(name: "AfarCharsetsTests", dependencies: ["AfarCharsets"]),
        .testTarget(
            name: "AfarSerializersTests",
            dependencies: [
                "AfarSerializers", "AfarCore", "AfarTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AfarXMLTests",
            dependencies: [
                "AfarXML", "AfarCore", "AfarSerializers", "AfarTesting", "CLibxml2",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .executableTarget(
            name: "ReachabilityProbe", dependencies: ["AfarReachability"], path: "Tests/ReachabilityProbe"
        ),
        .executableTarget(
            name: "AfarFuzz",
            dependencies: [
                "AfarCSV", "AfarCore", "AfarImage", "AfarJSON", "AfarSerializers", "AfarXML",
                .target(name: "AfarCurl", condition: .when(platforms: [.linux])),
                .target(name: "AfarProtobuf", condition: .when(traits: ["Protobuf"])),
                .target(name: "AfarYAML", condition: .when(traits: ["YAML"])),
                .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["Protobuf"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["YAML"])),
            ],
            path: "Tests/Fuzz"
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AfarFuzz", "AfarCLI", "AfarCore", "AfarSerializers", "AfarTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AfarCompressionTests",
            dependencies: [
                "AfarCompression", "AfarCore", "AfarSerializers", "AfarTesting", "CZlib",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AfarYAMLTests",
            dependencies: [
                "AfarYAML", "AfarCore", "AfarSerializers", "AfarTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["YAML"])),
            ]
        ),
        .testTarget(
            name: "AfarImageTests",
            dependencies: [
                "AfarImage", "AfarCore", "AfarTesting", "AfarTestServer", "AfarTransport",
                .target(name: "AfarCurl", condition: .when(platforms: [.linux])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["fixtures.py", "references.py"]
        ),
        .testTarget(
            name: "AfarJSONTests",
            dependencies: [
                "AfarJSON", "AfarCore", "AfarSerializers", "AfarTesting", "AfarTransport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AfarCSVTests",
            dependencies: [
                "AfarCSV", "AfarCore", "AfarSerializers", "AfarTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "AfarProtobufTests",
            dependencies: [
                "AfarProtobuf", "AfarCore", "AfarTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["Protobuf"])),
            ]
        ),
        .testTarget(
            name: "AfarMetricsTests",
            dependencies: [
                "AfarMetrics", "AfarCore", "AfarSerializers", .product(name: "HTTPTypes", package: "swift-http-types"),
                "AfarTesting", "AfarTestServer",
                .target(name: "AfarCurl", condition: .when(platforms: [.linux])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ]
        ),
        .testTarget(
            name: "AfarPublishersTests",
            dependencies: [
                "AfarPublishers", "AfarCore", "AfarSerializers",
                .product(name: "HTTPTypes", package: "swift-http-types"), "AfarTesting",
                .product(
                    name: "OpenCombine", package: "OpenCombine",
                    condition: .when(platforms: [.linux], traits: ["Publishers"])),
            ]
        ),
        .testTarget(
            name: "AfarTracingTests",
            dependencies: [
                "AfarTracing", "AfarCore", "AfarSerializers", .product(name: "HTTPTypes", package: "swift-http-types"),
                "AfarTesting", "AfarTestServer",
                .target(name: "AfarCurl", condition: .when(platforms: [.linux])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ]
        ),
        .testTarget(
            name: "AfarNetworkActivityTests",
            dependencies: ["AfarNetworkActivity", "AfarCore", "AfarSerializers", "AfarTesting"]
        ),
        .executableTarget(
            name: "DiskCacheProbe",
            dependencies: ["AfarDiskCache", .product(name: "HTTPTypes", package: "swift-http-types")],
            path: "Tests/DiskCacheProbe"),
        .testTarget(
            name: "AfarDiskCacheTests",
            dependencies: [
                "Afar", "AfarDiskCache", "AfarTestServer", "DiskCacheProbe", "TestServers",
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["DiskCache"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "TestServers",
            dependencies: ["AfarTestServer", .target(name: "COpenSSL", condition: .when(platforms: [.linux]))],
            path: "Tests/TestServers",
            exclude: ["websocket-server.py"]
        ),
        .executableTarget(
            name: "AutobahnProbe", dependencies: ["Afar"], path: "Tests/Autobahn",
            exclude: ["run", "requirements.txt"]),
        .executableTarget(
            name: "FaultProbe", dependencies: ["Afar", "AfarCore", "AfarTestServer"], path: "Tests/FaultProbe"),
        .testTarget(name: "FaultTests", dependencies: ["FaultProbe"]),
        .executableTarget(name: "SessionProbe", dependencies: ["Afar"], path: "Tests/SessionProbe"),
        .testTarget(
            name: "AfarTests",
            dependencies: ["Afar", "AfarTestServer", "SessionProbe", "TestServers"],
            exclude: ["Guarantees/README.md"]
        ),
        .executableTarget(name: "AuthenticationProbe", dependencies: ["Afar"], path: "Tests/AuthenticationProbe"),
        .testTarget(name: "AuthenticationTests", dependencies: ["Afar", "AfarTestServer", "AuthenticationProbe"]),
        .testTarget(
            name: "NetworkTests",
            dependencies: [
                "Afar", "AfarTestServer", "AfarTransport", "AfarTrust", "AfarURLSession", "CLibcurl", "TestServers",
            ]
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Afar", "AfarConformance", "AfarCore", "AfarDiskCache", "AfarHAR", "AfarImage", "AfarJSON",
                "AfarLogging",
                "AfarMetrics", "AfarNetworkActivity", "AfarPublishers", "AfarTesting", "AfarTestServer", "AfarTracing",
                "AfarXML", "AfarCSV", "AfarProtobuf", "AfarYAML",
                .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["Protobuf"])),
                .product(
                    name: "OpenCombine", package: "OpenCombine",
                    condition: .when(platforms: [.linux], traits: ["Publishers"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["YAML"])),
            ],
            exclude: ["Samples/Recordings"]
        ),
        .testTarget(
            name: "SourceCompatibilityTests",
            dependencies: ["Afar", "AfarNetworkActivity", "AfarTestServer", "AfarXML"],
            exclude: ["README.md"]
        ),
        // The same files (the folder is a symbolic link) in the language mode that most apps are built in.
        .testTarget(
            name: "SourceCompatibilityMode5Tests",
            dependencies: ["Afar", "AfarNetworkActivity", "AfarTestServer", "AfarXML"],
            exclude: ["README.md"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "AfarCurlTests",
            dependencies: [
                "AfarCurl", "AfarCore", "AfarTestServer", "AfarTesting", "CLibcurl",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(name: "AfarTestServerTests", dependencies: ["AfarTestServer"]),
        .testTarget(
            name: "AfarCLITests",
            dependencies: [
                "AfarCLI", "Afar", "AfarImage", "AfarTestServer", "TestServers",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

let sharedSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// Most people's code is built without the features above, and stands for itself.
let plainSettings: [SwiftSetting] = [.treatAllWarnings(as: .error)]

for target in package.targets where target.type != .system {
    let settings = target.name.hasPrefix("SourceCompatibility") ? plainSettings : sharedSettings
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
