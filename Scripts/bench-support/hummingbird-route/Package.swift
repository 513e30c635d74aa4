// swift-tools-version: 6.2
import PackageDescription

// A server for `Scripts/bench` only; no part of Larder depends on it.
let package = Package(
  name: "one-route",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1")
  ],
  targets: [
    .executableTarget(
      name: "OneRoute", dependencies: [.product(name: "Hummingbird", package: "hummingbird")])
  ]
)
