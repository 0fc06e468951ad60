// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Alamofire",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "Alamofire", targets: ["Alamofire"])],
    dependencies: [.package(name: "Afar", path: "..")],
    targets: [
        .target(
            name: "Alamofire", dependencies: [.product(name: "Afar", package: "Afar")],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "AlamofireTests",
            dependencies: ["Alamofire", .product(name: "AfarTestServer", package: "Afar")],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
