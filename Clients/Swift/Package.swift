// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "larder-client",
  platforms: [.iOS(.v16), .macOS(.v13)],
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .executable(name: "larder-conformance-driver", targets: ["ConformanceDriver"]),
    .executable(name: "larder-films", targets: ["FilmsExample"]),
    .executable(name: "larder-client-benchmarks", targets: ["ClientBenchmarks"]),
  ],
  dependencies: [
    // The same version as in the package of the server.
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")
  ],
  targets: [
    .target(
      name: "Larder",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ConformanceDriver", dependencies: ["Larder"], swiftSettings: settings),
    // For `Scripts/bench clients`.
    .executableTarget(
      name: "ClientBenchmarks", dependencies: ["Larder"], swiftSettings: settings),
    // As in an app: generated code has its own imports.
    .executableTarget(
      name: "FilmsExample", dependencies: ["Larder"], path: "Examples/Films"),
    .testTarget(name: "LarderTests", dependencies: ["Larder"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
