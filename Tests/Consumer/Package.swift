// swift-tools-version: 6.2

import PackageDescription

// A user's package that picks three products. `check` builds and runs it, and looks at what it had to resolve.
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
        )
    ]
)
