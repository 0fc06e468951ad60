// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Afar",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        "Afar", "AfarCore", "AfarStages", "AfarTransport", "AfarTrust", "AfarPublicSuffix", "AfarSerializers",
        "AfarCompression", "AfarCurl", "AfarHTTP", "AfarXML", "AfarURLSession", "AfarLogging", "AfarReachability",
        "AfarHAR", "AfarTesting", "AfarConformance", "AfarTestServer", "AfarDiskCache", "AfarJSON", "AfarYAML",
        "AfarImage", "AfarCSV", "AfarProtobuf", "AfarNetworkActivity", "AfarMetrics", "AfarPublishers", "AfarTracing",
        "AfarServiceLifecycle", "AfarConfiguration", "AfarEgress", "AfarAPI", "AfarResilience", "AfarStructuredFields",
        "AfarBodyCodings", "AfarMultipart", "AfarDNSOverHTTPS", "AfarResumableUploads", "AfarParallelDownloads",
        "AfarKeys", "AfarOAuth", "AfarSignatures",
    ].map { .library(name: $0, targets: [$0]) } + [.executable(name: "afar", targets: ["AfarCLI"])],
    traits: [
        .trait(
            name: "Configuration",
            description: "AfarConfiguration: session settings from swift-configuration (adds swift-configuration)."),
        .trait(name: "DiskCache", description: "AfarDiskCache: a response cache in SQLite (adds GRDB)."),
        .trait(
            name: "HTTP2", description: "HTTP/2 in AfarHTTP (adds the system's libnghttp2). Enabled by default."),
        .trait(name: "Logging", description: "AfarLogging: request logs with swift-log (adds swift-log)."),
        .trait(
            name: "Metrics",
            description: "AfarMetrics: request metrics with swift-metrics (adds swift-metrics)."),
        .trait(
            name: "Protobuf", description: "AfarProtobuf: Protocol Buffers messages (adds swift-protobuf)."),
        .trait(
            name: "Publishers",
            description: "AfarPublishers: publishers of Combine or OpenCombine (adds OpenCombine)."),
        .trait(
            name: "ServiceLifecycle",
            description: "AfarServiceLifecycle: sessions as services (adds swift-service-lifecycle)."),
        .trait(
            name: "StructuredFields",
            description:
                "AfarStructuredFields, and HTTP message signatures in AfarSignatures (adds swift-http-structured-headers)."
        ),
        .trait(
            name: "Tool",
            description: "The command-line tool `afar` (adds ArgumentParser, GRDB and hdrhistogram-swift).",
            enabledTraits: ["DiskCache"]),
        .trait(
            name: "Tracing",
            description: "AfarTracing: request spans (adds swift-distributed-tracing)."),
        .trait(name: "YAML", description: "AfarYAML: YAML responses and parameters (adds Yams)."),
        .default(enabledTraits: ["HTTP2"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// MARK: - Targets

let systemLibraries: [Target] = [
    .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
    .systemLibrary(name: "CLibpsl", pkgConfig: "libpsl", apt: "libpsl-dev", brew: "libpsl"),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
    .systemLibrary(name: "CLibxml2", pkgConfig: "libxml-2.0", apt: "libxml2-dev", brew: "libxml2"),
    .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlienc", apt: "libbrotli-dev", brew: "brotli"),
    .systemLibrary(name: "CZstandard", pkgConfig: "libzstd", apt: "libzstd-dev", brew: "zstd"),
    .systemLibrary(name: "CSpng", pkgConfig: "spng", apt: "libspng-dev", brew: "libspng"),
    .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev", brew: "jpeg-turbo"),
    // The module map links libwebp, libwebpdemux and libwebpmux.
    .systemLibrary(name: "CWebP", pkgConfig: "libwebpmux", apt: "libwebp-dev", brew: "webp"),
    .systemLibrary(name: "CPixman", pkgConfig: "pixman-1", apt: "libpixman-1-dev", brew: "pixman"),
    .systemLibrary(name: "CEpoll"),
    .systemLibrary(name: "CNetlink"),
    .systemLibrary(name: "CStack"),
]

let libraries: [Target] = [
    .library("AfarTrust", [.onLinux("COpenSSL")]),
    .library("AfarTransport", ["AfarTrust", .onLinux("CEpoll"), .onLinux("COpenSSL"), "CZlib", .httpTypes]),
    .library("AfarStages", ["AfarTransport", .httpTypes]),
    .library("AfarPublicSuffix", ["AfarStages", .onLinux("CLibpsl")]),
    .library("AfarWebSocket", ["AfarTransport", "CZlib", .httpTypes]),
    .library("AfarCore", ["AfarStages", "AfarTransport", "AfarTrust", "AfarWebSocket", "CStack", .httpTypes]),
    .library("AfarCharsets"),
    .library("AfarMultipart", packageAccess: false),
    .library("AfarSerializers", ["AfarCore", "AfarCharsets", "AfarMultipart", .httpTypes]),
    .library("AfarCompression", ["AfarCore", "AfarTransport", "CZlib"], packageAccess: false),
    .library("AfarXML", ["AfarCore", "AfarSerializers", "CLibxml2", "CStack", .httpTypes], packageAccess: false),
    .library("AfarHTTP1", ["AfarTransport", .httpTypes]),
    .library("AfarHTTP2", ["AfarHTTP1", "AfarTransport", "CNghttp2", .httpTypes]),
    .library(
        "AfarCurl",
        ["AfarHTTP1", "AfarTransport", "AfarTrust", "CEpoll", "CLibcurl", "COpenSSL", .httpTypes]),
    .library(
        "AfarHTTP",
        [
            "AfarHTTP1", .target(name: "AfarHTTP2", condition: .when(traits: ["HTTP2"])), "AfarTransport", "AfarTrust",
            "CEpoll", "COpenSSL", .httpTypes,
        ]),
    .library("AfarURLSession", ["AfarTransport", .httpTypes]),
    .library("AfarLogging", ["AfarCore", .swiftLog], packageAccess: false),
    .library("AfarReachability", [.onLinux("CNetlink")]),
    .library("AfarHAR", ["AfarCore", "AfarTransport", .httpTypes], packageAccess: false),
    .library(
        "AfarTesting", ["AfarHAR", "AfarCore", "AfarTransport", .onLinux("COpenSSL"), .httpTypes],
        packageAccess: false),
    .library("AfarTestServer", ["AfarMultipart"]),
    .library("AfarConformance", ["AfarTransport", "AfarTestServer", .httpTypes]),
    .library(
        "Afar",
        [
            "AfarCore", "AfarSerializers", "AfarCompression", "AfarPublicSuffix", "AfarReachability",
            "AfarURLSession", .onLinux("AfarCurl"), .onLinux("AfarHTTP"),
        ]),
    .target(
        name: "CJSONDocument",
        cxxSettings: [
            // Debian builds simdjson with this definition, which changes the layout of a structure. SwiftPM ignores the one
            // in pkg-config with a warning.
            .define("SIMDJSON_THREADS_ENABLED", to: "1"),
            .enableWarning("all"), .treatAllWarnings(as: .error),
        ],
        linkerSettings: [.linkedLibrary("simdjson")]
    ),
]

let plugins: [Target] = [
    .plugin("AfarAPI", ["AfarCore"]),
    .plugin("AfarBodyCodings", ["AfarCompression", "AfarCore", "CBrotli", "CZstandard"]),
    .plugin("AfarCSV", ["AfarCore", "AfarSerializers", .httpTypes]),
    .plugin("AfarConfiguration", ["AfarCore", "AfarTransport", .configuration]),
    .plugin("AfarDNSOverHTTPS", ["AfarCore", "AfarSerializers", "AfarTransport"]),
    .plugin("AfarDiskCache", ["AfarStages", "CZlib", .httpTypes, .grdb]),
    .plugin("AfarEgress", ["AfarTransport"]),
    .plugin(
        "AfarImage",
        ["AfarCore", "AfarTransport", "CPixman", "CSpng", "CTurboJPEG", "CWebP", .httpTypes]),
    .plugin("AfarJSON", ["AfarCore", "AfarSerializers", "CJSONDocument", "CStack"]),
    .plugin("AfarKeys", [.onLinux("COpenSSL")]),
    .plugin("AfarMetrics", ["AfarCore", "AfarTransport", .httpTypes, .metrics("CoreMetrics")]),
    .plugin("AfarNetworkActivity", ["AfarCore"]),
    .plugin("AfarOAuth", ["AfarCore", "AfarKeys", "AfarStages", "AfarTransport", "AfarTrust"]),
    .plugin("AfarParallelDownloads", ["AfarCore", .httpTypes]),
    .plugin("AfarProtobuf", ["AfarCore", .httpTypes, .swiftProtobuf]),
    .plugin("AfarPublishers", ["AfarCore", "AfarSerializers", "AfarTransport", .openCombine]),
    .plugin("AfarResilience", ["AfarCore", "AfarTransport", .httpTypes, .metrics("CoreMetrics")]),
    .plugin("AfarResumableUploads", ["AfarCore", "AfarTransport", .httpTypes]),
    .plugin("AfarServiceLifecycle", ["AfarCore", .serviceLifecycle("ServiceLifecycle")]),
    .plugin(
        "AfarSignatures",
        ["AfarCore", "AfarKeys", "AfarTransport", "AfarTrust", .httpTypes, .rawStructuredFields]),
    .plugin("AfarStructuredFields", ["AfarCore", .structuredFields]),
    .plugin("AfarTracing", ["AfarCore", "AfarTransport", .httpTypes, .tracing("Tracing")]),
    .plugin("AfarYAML", ["AfarCore", "AfarSerializers", .yams]),
]

let programs: [Target] = [
    .executableTarget(
        name: "AfarCLI",
        dependencies: [
            "Afar", "AfarDNSOverHTTPS", "AfarDiskCache", "AfarHAR", "AfarImage", "AfarNetworkActivity",
            "AfarParallelDownloads", "AfarResumableUploads",
            "AfarTestServer", "AfarXML", .httpTypes, .argumentParser, .histogram,
        ],
        // A symbolic link to the guide, which "afar help" prints.
        resources: [.embedInCode("Help/Command-Line.md")]),
    .program(
        "AfarFuzz",
        [
            "AfarAPI", "AfarCSV", "AfarCore", "AfarImage", "AfarJSON", "AfarMultipart", "AfarSerializers", "AfarXML",
            "AfarDNSOverHTTPS",
            "AfarHTTP1", "AfarTransport",
            .target(name: "AfarProtobuf", condition: .when(traits: ["Protobuf"])),
            .target(name: "AfarStructuredFields", condition: .when(traits: ["StructuredFields"])),
            .target(name: "AfarYAML", condition: .when(traits: ["YAML"])),
            .swiftProtobuf, .structuredFields, .httpTypes, .yams,
        ], path: "Tests/Fuzz"),
    .program("AuthenticationProbe", ["Afar"]),
    .program("AutobahnProbe", ["Afar"], path: "Tests/Autobahn", exclude: ["run", "requirements.txt"]),
    .program("CookieProbe", ["AfarStages"]),
    .program("DiskCacheProbe", ["AfarDiskCache", .httpTypes]),
    .program("EgressProbe", ["Afar", "AfarEgress"]),
    .program("FaultProbe", ["Afar", "AfarCore", .onLinux("AfarHTTP"), "AfarTestServer"]),
    .program("OAuthProbe", ["Afar", "AfarOAuth"]),
    .program("ReachabilityProbe", ["AfarReachability"]),
    .program(
        "SampleService",
        [
            "Afar", "AfarAPI", "AfarConfiguration", "AfarEgress", "AfarResilience", "AfarServiceLifecycle",
            "AfarTestServer", .configuration, .swiftLog, .serviceLifecycle("ServiceLifecycle"),
            .serviceLifecycle("UnixSignals"),
        ]),
    .program("SessionProbe", ["Afar"]),
    .program("UploadProbe", ["Afar", "AfarResumableUploads"]),
]

let tests: [Target] = [
    .target(
        name: "TestServers", dependencies: [.onLinux("COpenSSL")], path: "Tests/TestServers",
        exclude: ["http2-hostile-server.py", "http2-server.go", "websocket-server.py"]),
    .target(name: "TestSupport", dependencies: ["AfarStages", "AfarTransport"], path: "Tests/TestSupport"),
    .tests("AfarTrust", ["TestServers"]),
    .tests("AfarTransport", ["AfarTesting", "CZlib", "TestServers", "TestSupport", .httpTypes]),
    .tests("AfarStages", ["AfarCore", "AfarTesting", "CookieProbe", "TestServers", "TestSupport", .httpTypes]),
    .tests("AfarPublicSuffix", ["AfarStages"]),
    .tests("AfarWebSocket", ["AfarTransport", "TestServers", .httpTypes]),
    .tests("AfarCore", ["AfarTesting", "TestSupport", .httpTypes]),
    .tests("AfarHTTP1", ["AfarTestServer", "AfarTransport", .onLinux("CLibcurl"), .httpTypes]),
    .tests("AfarHTTP2", ["AfarHTTP1", "AfarTransport", "CNghttp2", "TestServers", .httpTypes]),
    .tests(
        "AfarHTTP",
        [
            "AfarHTTP1", "AfarTransport", "AfarTestServer", "AfarTrust", "TestServers", "TestSupport",
            .onLinux("COpenSSL"), .httpTypes,
        ]),
    .tests("AfarURLSession", ["AfarCore", .httpTypes]),
    .tests("AfarLogging", ["AfarCore", "AfarTesting", .swiftLog]),
    .tests(
        "AfarConformance",
        [
            "AfarCore", "AfarTesting", "AfarTestServer", "AfarURLSession", .onLinux("AfarCurl"), .onLinux("AfarHTTP"),
            .httpTypes,
        ]),
    .tests(
        "AfarHAR",
        ["AfarCore", "AfarSerializers", "AfarTesting", "AfarTestServer", .onLinux("AfarCurl"), .httpTypes],
        exclude: ["browser.har", "har-1.2.schema.json"]),
    .tests("AfarTesting", ["AfarCore", "AfarSerializers", .httpTypes]),
    .tests("AfarReachability", ["ReachabilityProbe", .onLinux("CNetlink")]),
    .tests("AfarCharsets"),
    .tests("AfarMultipart", ["Afar", "AfarTestServer"]),
    .tests("AfarSerializers", ["AfarCore", "AfarTesting", "TestSupport", .httpTypes]),
    .tests("AfarXML", ["AfarCore", "AfarSerializers", "AfarTesting", "CLibxml2", .httpTypes]),
    .tests("AfarCompression", ["AfarCore", "AfarSerializers", "AfarTesting", "CZlib", .httpTypes]),
    .tests("AfarYAML", ["AfarCore", "AfarSerializers", "AfarTesting", .httpTypes, .yams]),
    .tests(
        "AfarImage",
        ["AfarCore", "AfarTesting", "AfarTestServer", "AfarTransport", .onLinux("AfarCurl"), .httpTypes],
        exclude: ["fixtures.py", "references.py"]),
    .tests("AfarJSON", ["AfarCore", "AfarSerializers", "AfarTesting", "AfarTransport", .httpTypes]),
    .tests(
        "AfarAPI", ["Afar", "AfarTesting", "AfarTestServer"], exclude: ["uri-templates.json", "uri-templates.py"]),
    .tests("AfarBodyCodings", ["Afar", "AfarTestServer"]),
    .tests("AfarCSV", ["AfarCore", "AfarSerializers", "AfarTesting", .httpTypes]),
    .tests(
        "AfarDNSOverHTTPS",
        ["Afar", "AfarTestServer", "AfarTesting", "AfarTransport", "AfarURLSession", "TestServers", .httpTypes]),
    .tests(
        "AfarEgress",
        ["Afar", "AfarTestServer", "AfarTesting", "AfarTransport", "EgressProbe", "TestServers", .httpTypes],
        exclude: ["rebinding-servers.py"]),
    .tests("AfarKeys"),
    .tests(
        "AfarOAuth", ["Afar", "AfarTestServer", "OAuthProbe", "TestServers"],
        exclude: ["authlib-server.py", "dpop-resource.py", "requirements.txt", "run"]),
    .tests("AfarParallelDownloads", ["Afar", "AfarTesting", "AfarTestServer", "TestServers", .httpTypes]),
    .tests("AfarProtobuf", ["AfarCore", "AfarTesting", .httpTypes, .swiftProtobuf]),
    .tests(
        "AfarMetrics",
        [
            "AfarCore", "AfarSerializers", "AfarTesting", "AfarTestServer", .onLinux("AfarCurl"), .httpTypes,
            .metrics("MetricsTestKit"),
        ]),
    .tests("AfarPublishers", ["AfarCore", "AfarSerializers", "AfarTesting", .httpTypes, .openCombine]),
    .tests(
        "AfarResilience",
        [
            "AfarConformance", "AfarCore", "AfarSerializers", "AfarTesting", "AfarTestServer", "AfarTransport",
            "TestSupport", .onLinux("AfarHTTP"), .httpTypes, .metrics("MetricsTestKit"),
        ]),
    .tests(
        "AfarResumableUploads", ["Afar", "AfarTransport", "TestServers", "UploadProbe"],
        exclude: ["requirements.txt", "run"]),
    .tests(
        "AfarSignatures", ["Afar", "AfarTesting", "AfarTestServer", "AfarTransport", "TestServers", .httpTypes],
        exclude: ["aws.py", "messages.py", "requirements.txt"]),
    .tests("AfarStructuredFields", ["Afar", "AfarTestServer", .structuredFields]),
    .tests(
        "AfarTracing",
        [
            "AfarCore", "AfarSerializers", "AfarTesting", "AfarTestServer", .onLinux("AfarCurl"), .httpTypes,
            .tracing("InMemoryTracing"),
        ]),
    .tests(
        "AfarServiceLifecycle",
        [
            "AfarCore", "AfarSerializers", "AfarTestServer", .onLinux("AfarHTTP"), .swiftLog,
            .serviceLifecycle("ServiceLifecycle"), .serviceLifecycle("ServiceLifecycleTestKit"),
        ]),
    .tests("AfarConfiguration", ["AfarCore", "AfarTransport", .configuration]),
    .tests("AfarNetworkActivity", ["AfarCore", "AfarSerializers", "AfarTesting"]),
    .tests(
        "AfarDiskCache",
        ["Afar", "AfarTestServer", "DiskCacheProbe", "TestServers", "TestSupport", .grdb, .httpTypes]),
    .tests(
        "AfarCurl",
        [
            "AfarCore", "AfarHTTP", "AfarTestServer", "AfarTesting", "CLibcurl", "TestServers", "TestSupport",
            .httpTypes,
        ]),
    .tests("AfarTestServer", ["TestSupport"]),
    .tests(
        "Afar", ["AfarTestServer", "SessionProbe", "TestServers", "TestSupport"], exclude: ["Guarantees/README.md"]),
    .tests(
        "AfarCLI", ["Afar", "AfarImage", "AfarTestServer", "TestServers", .httpTypes, .argumentParser, .histogram]),
    .testTarget(
        name: "FuzzTests",
        dependencies: ["AfarFuzz", "AfarCLI", "AfarCore", "AfarSerializers", "AfarTesting", .httpTypes]),
    .testTarget(name: "FaultTests", dependencies: ["FaultProbe"]),
    .testTarget(
        name: "SampleServiceTests",
        dependencies: [
            "SampleService", "Afar", "AfarAPI", "AfarResilience", "AfarTestServer", "AfarTesting", "TestServers",
            .configuration,
        ]),
    .testTarget(
        name: "AuthenticationTests", dependencies: ["Afar", "AfarTestServer", "AuthenticationProbe", "TestServers"]),
    .testTarget(
        name: "NetworkTests",
        dependencies: [
            "Afar", "AfarTestServer", "AfarTesting", "AfarTransport", "AfarTrust", "AfarURLSession", "CLibcurl",
            "TestServers", "TestSupport", .httpTypes,
        ]),
    .testTarget(
        name: "DocumentationTests",
        dependencies: [
            "Afar", "AfarBodyCodings", "AfarConfiguration", "AfarConformance", "AfarCore", "AfarDiskCache",
            "AfarDNSOverHTTPS",
            "AfarEgress", "AfarHAR", "AfarMultipart",
            "AfarImage",
            "AfarJSON", "AfarLogging", "AfarMetrics", "AfarNetworkActivity", "AfarOAuth", "AfarPublishers",
            "AfarResilience", "AfarResumableUploads", "AfarServiceLifecycle", "AfarParallelDownloads", "AfarSignatures",
            "AfarStructuredFields", "AfarTesting", "AfarTestServer", "AfarTracing", "AfarXML", "AfarAPI", "AfarCSV",
            "AfarProtobuf", "AfarYAML",
            .configuration, .structuredFields, .swiftProtobuf, .openCombine, .httpTypes,
            .serviceLifecycle("ServiceLifecycle"),
            .serviceLifecycle("UnixSignals"),
            .swiftLog, .yams,
        ],
        exclude: ["Samples/Recordings"]),
    .testTarget(
        name: "SourceCompatibilityTests",
        dependencies: ["Afar", "AfarNetworkActivity", "AfarTestServer", "AfarXML"], exclude: ["README.md"],
        packageAccess: false),
    // A symbolic link to the same files, in the language mode of most apps.
    .testTarget(
        name: "SourceCompatibilityMode5Tests",
        dependencies: ["Afar", "AfarNetworkActivity", "AfarTestServer", "AfarXML"], exclude: ["README.md"],
        packageAccess: false, swiftSettings: [.swiftLanguageMode(.v5)]),
]

package.targets = systemLibraries + libraries + plugins + programs + tests

for target in package.targets where target.type != .system {
    var settings: [SwiftSetting] = [.treatAllWarnings(as: .error)]
    // The source of Alamofire's users must compile without these features.
    if !target.name.hasPrefix("SourceCompatibility") {
        settings += [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
    }
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}

// MARK: - Kinds of targets

extension Target {
    static func systemLibrary(name: String, pkgConfig: String, apt: String, brew: String) -> Target {
        .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
    }

    static func library(_ name: String, _ dependencies: [Dependency] = [], packageAccess: Bool = true) -> Target {
        .target(name: name, dependencies: dependencies, packageAccess: packageAccess)
    }

    /// An optional library. It can only use API that other packages can use, too.
    static func plugin(_ name: String, _ dependencies: [Dependency]) -> Target {
        .target(name: name, dependencies: dependencies, path: "Plugins/\(name)", packageAccess: false)
    }

    /// A program that tests run.
    static func program(
        _ name: String, _ dependencies: [Dependency], path: String? = nil, exclude: [String] = []
    ) -> Target {
        .executableTarget(name: name, dependencies: dependencies, path: path ?? "Tests/\(name)", exclude: exclude)
    }

    /// The tests of a module.
    static func tests(_ module: String, _ dependencies: [Dependency] = [], exclude: [String] = []) -> Target {
        .testTarget(
            name: "\(module)Tests", dependencies: [.target(name: module)] + dependencies, exclude: exclude)
    }
}

extension Target.Dependency {
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser", trait: "Tool")
    static let histogram = product(name: "Histogram", package: "hdrhistogram-swift", trait: "Tool")
    static let grdb = product(name: "GRDB", package: "GRDB.swift", trait: "DiskCache")
    static let swiftLog = product(name: "Logging", package: "swift-log", trait: "Logging")
    static let swiftProtobuf = product(name: "SwiftProtobuf", package: "swift-protobuf", trait: "Protobuf")
    static let structuredFields = product(
        name: "StructuredFieldValues", package: "swift-http-structured-headers", trait: "StructuredFields")
    static let rawStructuredFields = product(
        name: "RawStructuredFieldValues", package: "swift-http-structured-headers", trait: "StructuredFields")
    static let yams = product(name: "Yams", package: "Yams", trait: "YAML")
    static let openCombine = product(
        name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux], traits: ["Publishers"]))

    static func metrics(_ product: String) -> Self {
        .product(name: product, package: "swift-metrics", trait: "Metrics")
    }

    static let configuration = product(
        name: "Configuration", package: "swift-configuration", trait: "Configuration")

    static func serviceLifecycle(_ product: String) -> Self {
        .product(name: product, package: "swift-service-lifecycle", trait: "ServiceLifecycle")
    }

    static func tracing(_ product: String) -> Self {
        .product(name: product, package: "swift-distributed-tracing", trait: "Tracing")
    }

    static func onLinux(_ target: String) -> Self { .target(name: target, condition: .when(platforms: [.linux])) }

    /// A product of a package that clients resolve only if they enable the trait.
    private static func product(name: String, package: String, trait: String) -> Self {
        .product(name: name, package: package, condition: .when(traits: [trait]))
    }
}
