// swift-tools-version: 6.2
import Foundation
import PackageDescription

let package = Package(
  name: "larder",
  products: [
    .executable(name: "larder", targets: ["larder"])
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // Floor 0: bytes, sockets, JSON. No target of ours below.
    .systemLibrary(name: "CLinux"),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CResources"),
    .target(name: "LosslessJSON"),
    .target(name: "HTTPWire"),
    .target(name: "Transport", dependencies: ["CLinux", "COpenSSL"]),
    .target(name: "Cryptography", dependencies: ["COpenSSL"]),

    // Floor 1: the nouns, and the GraphQL language.
    .target(name: "Model", dependencies: ["LosslessJSON"]),
    .target(name: "GraphQL", dependencies: ["LosslessJSON"]),
    .target(
      name: "S3Wire",
      dependencies: ["HTTPWire", "Cryptography"]),

    // Floor 2: what speaks to disks and sockets, and what keeps secrets.
    .target(
      name: "Sealing",
      dependencies: ["Model", "Cryptography"]),
    .target(
      name: "Storage",
      dependencies: [
        "Model", "LosslessJSON",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(
      name: "HTTPServer",
      dependencies: [
        "HTTPWire", "Transport", "CZlib",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .target(
      name: "HTTPClient",
      dependencies: [
        "HTTPWire", "Transport", "CZlib",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),

    // Floor 3: the team's operations, upstream, and other parties.
    .target(
      name: "Accounts",
      dependencies: [
        "Cryptography", "HTTPClient", "HTTPWire", "LosslessJSON", "Model", "Sealing", "Storage",
        "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "Files",
      dependencies: [
        "HTTPWire", "Model", "Storage", "Transport",
        "Cryptography",
      ]),
    .target(
      name: "Push",
      dependencies: [
        "HTTPClient", "HTTPWire", "LosslessJSON", "Model", "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .target(
      name: "Upstream",
      dependencies: [
        "GraphQL", "HTTPClient", "HTTPWire", "LosslessJSON", "Model",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),

    // Floor 4: use cases, a folder a way; and the other store of files, which stands on that one.
    .target(
      name: "S3",
      dependencies: [
        "Files", "HTTPClient", "HTTPWire", "Model", "S3Wire", "Transport",
        "Cryptography",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .target(
      name: "Gateway",
      dependencies: [
        "Accounts", "GraphQL", "LosslessJSON", "Model", "Sealing", "Storage", "Upstream",
        "Files", "HTTPWire", "Push", "S3Wire", "Transport",
        "Cryptography",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),

    // Floor 5: HTTP to use cases.
    .target(
      name: "Endpoints",
      dependencies: [
        "Gateway", "HTTPServer", "HTTPWire", "LosslessJSON", "Model", "S3Wire",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),

    // Floor 6: the only place that names live implementations.
    .target(
      name: "Composition",
      dependencies: [
        "Accounts", "CResources", "Endpoints", "Gateway", "GraphQL", "HTTPClient", "HTTPServer",
        "HTTPWire",
        "LosslessJSON", "Model", "Push", "S3", "S3Wire", "Sealing", "Storage", "Transport",
        "Upstream", "Files",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Yams", package: "Yams"),
      ]),
    .target(
      name: "DemoUpstream",
      dependencies: [
        "CResources", "GraphQL", "HTTPServer", "HTTPWire", "LosslessJSON", "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),

    // Floor 7: the commands.
    .executableTarget(
      name: "larder",
      dependencies: [
        "Composition", "DemoUpstream",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // Tests: one target a module, builders and raw clients beside them, the ways over sockets.
    .target(
      name: "TestSupport",
      dependencies: [
        "CLinux", "LosslessJSON", "Model", .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/TestSupport"),
    .target(
      name: "VendorDouble",
      dependencies: [
        "HTTPClient", "LosslessJSON", "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/VendorDouble"),
    .target(
      name: "Auth0Double",
      dependencies: [
        "Accounts", "COpenSSL", "Cryptography", "HTTPClient", "LosslessJSON", "Model",
        "VendorDouble",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/Auth0Double"),
    .target(
      name: "OneSignalDouble",
      dependencies: [
        "HTTPClient", "LosslessJSON", "Model", "VendorDouble",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/OneSignalDouble"),
    .testTarget(name: "LosslessJSONTests", dependencies: ["LosslessJSON", "TestSupport"]),
    .testTarget(name: "HTTPWireTests", dependencies: ["HTTPWire", "TestSupport"]),
    .testTarget(
      name: "CryptographyTests", dependencies: ["Cryptography", "LosslessJSON", "TestSupport"]),
    .testTarget(name: "TransportTests", dependencies: ["Transport", "TestSupport"]),
    .testTarget(name: "ModelTests", dependencies: ["Model", "LosslessJSON", "TestSupport"]),
    .testTarget(name: "GraphQLTests", dependencies: ["GraphQL", "LosslessJSON", "TestSupport"]),
    .testTarget(
      name: "StorageTests",
      dependencies: [
        "Storage", "Model", "LosslessJSON", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: [
        "HTTPServer", "HTTPWire", "Transport", "TestSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "HTTPClientTests",
      dependencies: [
        "HTTPClient", "HTTPWire", "Transport", "TestSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "SealingTests",
      dependencies: [
        "Model", "Sealing", "Cryptography",
      ]),
    .testTarget(
      name: "AccountsTests",
      dependencies: [
        "Accounts", "Auth0Double", "HTTPClient", "LosslessJSON", "Model", "Sealing", "Storage",
        "TestSupport", "Transport",
        "Cryptography",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "FilesTests",
      dependencies: [
        "Files", "HTTPClient", "HTTPWire", "Model", "S3", "S3Wire", "Storage", "Transport",
        "TestSupport",
        "Cryptography",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "S3WireTests",
      dependencies: [
        "S3Wire", "HTTPWire", "TestSupport", "Cryptography",
      ]),
    .testTarget(
      name: "PushTests",
      dependencies: [
        "HTTPClient", "LosslessJSON", "Model", "OneSignalDouble", "Push", "TestSupport",
        "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "UpstreamTests",
      dependencies: ["Upstream", "GraphQL", "HTTPClient", "LosslessJSON", "Model", "TestSupport"]),
    .testTarget(
      name: "GatewayTests",
      dependencies: [
        "Accounts", "Gateway", "GraphQL", "HTTPClient", "HTTPWire", "LosslessJSON", "Model", "Push",
        "S3Wire", "Sealing", "Storage", "Upstream", "TestSupport",
        "Cryptography",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "EndpointsTests",
      dependencies: [
        "Endpoints", "Gateway", "HTTPServer", "HTTPWire", "LosslessJSON", "Model", "TestSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "CompositionTests",
      dependencies: [
        .product(name: "CoreMetrics", package: "swift-metrics"),
        "Cryptography",
        "Accounts", "Composition", "Gateway", "HTTPClient", "HTTPServer", "HTTPWire",
        "Model", "OneSignalDouble", "Transport", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "DemoUpstreamTests",
      dependencies: ["DemoUpstream", "GraphQL", "LosslessJSON", "TestSupport"]),
    .testTarget(
      name: "WaysTests",
      dependencies: [
        "Auth0Double", "Composition", "DemoUpstream", "HTTPWire", "LosslessJSON",
        "OneSignalDouble", "S3Wire", "TestSupport", "Transport", "VendorDouble",
        "larder",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "CrashTests",
      dependencies: [
        "DemoUpstream", "HTTPWire", "LosslessJSON", "OneSignalDouble", "S3Wire", "TestSupport",
        "VendorDouble", "larder",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(name: "TidyTests"),

    // What `Scripts/bench` runs; nothing of it decides whether tests pass.
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "Gateway", "LosslessJSON", "Model", "Storage", "TestSupport", "Upstream",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Benchmarks"),
  ]
)

for target in package.targets where target.type != .system {
  let folder = target.path ?? (target.isTest ? "Tests/" : "Sources/") + target.name
  for other in ["DESIGN.md", "Fixtures"]
  where FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/\(folder)/\(other)") {
    target.exclude.append(other)
  }
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
  // Debug builds, and so all tests, check every access to a class's storage. In a release these checks
  // are a tenth of what a hit costs, all of it in the modules that every request goes through.
  if ["HTTPServer", "HTTPWire", "Transport"].contains(target.name) {
    target.swiftSettings?.append(
      .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)))
  }
}
