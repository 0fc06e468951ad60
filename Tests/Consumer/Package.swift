// swift-tools-version: 6.2

import PackageDescription

// A client package that uses some of the products. `check` builds and runs it, and checks which dependencies were
// resolved and built.
let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Afar", path: "../..")],
    targets: [
        .executableTarget(
            name: "Consumer",
            dependencies: [
                .product(name: "AfarCore", package: "Afar"),
                .product(name: "AfarSerializers", package: "Afar"),
                .product(name: "AfarTesting", package: "Afar"),
            ]
        ),
        .executableTarget(
            name: "XMLConsumer",
            dependencies: [
                .product(name: "AfarCore", package: "Afar"),
                .product(name: "AfarXML", package: "Afar"),
            ]
        ),
        .executableTarget(name: "AppConsumer", dependencies: [.product(name: "Afar", package: "Afar")]),
        .target(name: "OldMonitor", dependencies: [.product(name: "Afar", package: "Afar")]),
        .executableTarget(name: "ReadMe", dependencies: [.product(name: "Afar", package: "Afar")]),
        .target(name: "Weather", dependencies: [.product(name: "Afar", package: "Afar")]),
        .testTarget(
            name: "WeatherTests", dependencies: ["Weather", .product(name: "AfarTesting", package: "Afar")],
            exclude: ["Recordings"]
        ),
    ]
)
