// swift-tools-version: 6.2
import Foundation
import PackageDescription

let package = Package(
  name: "larder",
  products: [
    .executable(name: "larder", targets: ["larder"])
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
  ],
  targets: [
    // Floor 0: bytes, sockets, JSON. No target of ours below.
    .systemLibrary(name: "CLinux"),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CPostgreSQL", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "CResources", exclude: ["demo-words.json", "openapi.yaml"]),
    .target(name: "LosslessJSON"),
    .target(name: "HTTPWire"),
    .target(name: "Transport", dependencies: ["CLinux", "COpenSSL"]),
    .target(name: "Cryptography", dependencies: ["COpenSSL"]),

    // Floor 1: the nouns, and the GraphQL language.
    .target(name: "Model", dependencies: ["LosslessJSON"]),
    .target(name: "GraphQL", dependencies: ["LosslessJSON"]),
    .target(
      name: "S3Wire",
      dependencies: ["Cryptography", "HTTPWire"]),
    .target(
      name: "Traces",
      dependencies: [
        "Transport",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .target(name: "WebSocketWire", dependencies: ["CZlib", "Cryptography", "HTTPWire"]),

    // Floor 2: rules on the nouns, without I/O; and the WebSocket connections of both sides.
    .target(name: "Filtering", dependencies: ["LosslessJSON", "Model"]),
    .target(name: "SyncScheduler", dependencies: ["LosslessJSON", "Model"]),
    .target(
      name: "WebSockets",
      dependencies: [
        "Transport", "WebSocketWire",
        .product(name: "DequeModule", package: "swift-collections"),
      ]),

    // Floor 3: what speaks to disks and sockets.
    .target(
      name: "Storage",
      dependencies: [
        "Cryptography", "Filtering", "LosslessJSON", "Model", "SyncScheduler",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(name: "PostgreSQL", dependencies: ["CPostgreSQL", "Transport"]),
    .target(
      name: "HTTPServer",
      dependencies: [
        "CZlib", "HTTPWire", "Traces", "Transport", "WebSocketWire", "WebSockets",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .target(
      name: "HTTPClient",
      dependencies: [
        "CZlib", "HTTPWire", "Transport", "WebSocketWire", "WebSockets",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),

    // Floor 4: the team's operations, upstream, accounts and files.
    .target(
      name: "Accounts",
      dependencies: [
        "Cryptography", "HTTPClient", "HTTPWire", "LosslessJSON", "Model", "Storage",
        "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "Cluster",
      dependencies: [
        "Cryptography", "Model", "PostgreSQL", "Transport",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "Files",
      dependencies: ["Cryptography", "HTTPWire", "Model", "Storage", "Transport"]),
    .target(
      name: "Standby",
      dependencies: ["CZlib", "Cryptography", "Model", "Transport"]),
    .target(
      name: "Upstream",
      dependencies: [
        "Cryptography", "GraphQL", "HTTPClient", "HTTPWire", "LosslessJSON", "Model", "Traces",
        "Transport",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),

    // Floor 5: use cases, a folder a way; and the other store of files, which stands on that one.
    .target(
      name: "S3FileStore",
      dependencies: [
        "Cryptography", "Files", "HTTPClient", "HTTPWire", "Model", "S3Wire", "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .target(name: "Generation", dependencies: ["LosslessJSON", "Model", "Upstream"]),
    .target(
      name: "Gateway",
      dependencies: [
        "Accounts", "Cryptography", "Files", "Filtering", "GraphQL", "HTTPClient", "HTTPWire",
        "LosslessJSON", "Model", "Storage", "SyncScheduler", "Traces", "Transport", "Upstream",
        "WebSocketWire",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),

    // Floor 6: HTTP to use cases.
    .target(
      name: "Endpoints",
      dependencies: [
        "Cryptography", "Filtering", "Gateway", "HTTPServer", "HTTPWire", "LosslessJSON",
        "Model", "S3Wire", "SyncScheduler", "Traces", "WebSocketWire",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),

    // Floor 7: the only place that names live implementations.
    .target(
      name: "Composition",
      dependencies: [
        "Accounts", "CResources", "Cluster", "Cryptography", "Endpoints", "Files", "Filtering",
        "Gateway",
        "Generation", "GraphQL",
        "HTTPClient", "HTTPServer", "HTTPWire", "LosslessJSON", "Model", "S3FileStore",
        "Standby", "Storage", "SyncScheduler", "Traces", "Transport", "Upstream",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
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

    // Floor 8: the commands.
    .executableTarget(
      name: "larder",
      dependencies: [
        "Composition", "DemoUpstream", "Generation",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // Tests: one target a module, builders and raw clients beside them, the ways over sockets.
    .target(
      name: "TestSupport",
      dependencies: [
        "CLinux", "LosslessJSON", "Model",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/TestSupport"),
    .target(
      name: "VendorDouble",
      dependencies: [
        "GraphQL", "HTTPClient", "HTTPServer", "HTTPWire", "LosslessJSON", "Transport",
        "WebSocketWire",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/VendorDouble"),
    .target(
      name: "HasuraDouble",
      dependencies: [
        "GraphQL", "HTTPClient", "LosslessJSON", "VendorDouble",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/HasuraDouble"),
    .target(
      name: "AppSyncDouble",
      dependencies: [
        "GraphQL", "HTTPClient", "HTTPWire", "LosslessJSON", "Model", "VendorDouble",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/AppSyncDouble"),
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
    .target(
      name: "ClusterDouble",
      dependencies: ["Cluster", "Cryptography", "Model", "Transport"],
      path: "Tests/ClusterDouble"),
    .testTarget(name: "LosslessJSONTests", dependencies: ["LosslessJSON", "TestSupport"]),
    .testTarget(name: "HTTPWireTests", dependencies: ["HTTPWire", "TestSupport"]),
    .testTarget(
      name: "CryptographyTests", dependencies: ["Cryptography", "LosslessJSON", "TestSupport"]),
    .testTarget(name: "TransportTests", dependencies: ["TestSupport", "Transport"]),
    .testTarget(
      name: "WebSocketWireTests", dependencies: ["HTTPWire", "TestSupport", "WebSocketWire"]),
    .testTarget(
      name: "WebSocketsTests", dependencies: ["Transport", "WebSocketWire", "WebSockets"]),
    .testTarget(name: "ModelTests", dependencies: ["LosslessJSON", "Model", "TestSupport"]),
    .testTarget(
      name: "FilteringTests", dependencies: ["Filtering", "LosslessJSON", "Model", "TestSupport"]),
    .testTarget(
      name: "SyncSchedulerTests",
      dependencies: ["LosslessJSON", "Model", "SyncScheduler", "TestSupport"]),
    .testTarget(name: "GraphQLTests", dependencies: ["GraphQL", "LosslessJSON", "TestSupport"]),
    .testTarget(
      name: "TracesTests",
      dependencies: [
        "TestSupport", "Traces",
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "StorageTests",
      dependencies: [
        "Cryptography", "Filtering", "LosslessJSON", "Model", "Storage", "SyncScheduler",
        "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "PostgreSQLTests",
      dependencies: ["CPostgreSQL", "PostgreSQL", "TestSupport", "Transport"]),
    .testTarget(
      name: "ClusterTests",
      dependencies: [
        "Cluster", "ClusterDouble", "Cryptography", "Model", "PostgreSQL", "TestSupport",
        "Transport",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "StandbyTests", dependencies: ["Model", "Standby", "TestSupport", "Transport"]),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: [
        "HTTPServer", "HTTPWire", "TestSupport", "Traces", "Transport", "WebSocketWire",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "HTTPClientTests",
      dependencies: [
        "HTTPClient", "HTTPWire", "TestSupport", "Transport", "WebSocketWire",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "AccountsTests",
      dependencies: [
        "Accounts", "Auth0Double", "Cryptography", "HTTPClient", "LosslessJSON", "Model",
        "Storage", "TestSupport", "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "FilesTests",
      dependencies: [
        "Cryptography", "Files", "HTTPClient", "HTTPWire", "Model", "S3FileStore", "S3Wire",
        "Storage", "TestSupport", "Transport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .testTarget(
      name: "S3WireTests",
      dependencies: ["Cryptography", "HTTPWire", "S3Wire", "TestSupport"]),
    .testTarget(
      name: "UpstreamTests",
      dependencies: [
        "AppSyncDouble", "Cryptography", "GraphQL", "HasuraDouble", "HTTPClient", "HTTPWire",
        "LosslessJSON", "Model", "TestSupport", "Traces", "Transport", "Upstream", "VendorDouble",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "GatewayTests",
      dependencies: [
        "Accounts", "Cryptography", "Filtering", "Gateway", "GraphQL", "HTTPClient", "HTTPWire",
        "LosslessJSON", "Model", "OneSignalDouble", "Storage", "SyncScheduler", "TestSupport",
        "Traces", "Upstream",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "GenerationTests",
      dependencies: ["Generation", "LosslessJSON", "Model", "TestSupport", "Upstream"]),
    .testTarget(
      name: "EndpointsTests",
      dependencies: [
        "Accounts", "Cryptography", "Endpoints", "Gateway", "HTTPClient", "HTTPServer", "HTTPWire",
        "LosslessJSON", "Model", "S3Wire", "Storage", "SyncScheduler", "TestSupport", "Transport",
        "Upstream",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "CompositionTests",
      dependencies: [
        "Accounts", "Cluster", "ClusterDouble", "Composition", "Cryptography", "Endpoints",
        "Gateway",
        "Generation", "GraphQL", "HTTPClient", "HTTPServer",
        "HTTPWire", "LosslessJSON", "Model", "OneSignalDouble", "Standby", "Storage", "TestSupport",
        "Transport",
        "Upstream",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "DemoUpstreamTests",
      dependencies: ["DemoUpstream", "GraphQL", "LosslessJSON", "TestSupport"]),
    .testTarget(
      name: "WaysTests",
      dependencies: [
        "Auth0Double", "Composition", "Cryptography", "DemoUpstream", "Endpoints", "Gateway",
        "HTTPClient", "HTTPServer", "HTTPWire", "larder", "LosslessJSON", "Model",
        "OneSignalDouble", "S3Wire",
        "TestSupport", "Transport", "VendorDouble",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "CrashTests",
      dependencies: [
        "DemoUpstream", "HTTPWire", "larder", "LosslessJSON", "OneSignalDouble", "S3Wire",
        "TestSupport", "VendorDouble",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(name: "TidyTests"),

    // What `Scripts/bench` runs; nothing of it decides whether tests pass.
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "Filtering", "Gateway", "LosslessJSON", "Model", "Storage", "TestSupport", "Upstream",
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
