// swift-tools-version: 6.2
import PackageDescription

// A package of its own: what it builds carries sanitizers and coverage counters that no other build
// is to have. `Sources` is a link to the modules it fuzzes; `Scripts/fuzz` builds it.
let package = Package(
  name: "fuzzing",
  targets: [
    .target(name: "LosslessJSON"),
    .target(name: "HTTPWire", exclude: ["DESIGN.md"]),
    .target(name: "Model", dependencies: ["LosslessJSON"]),
    .target(name: "GraphQL", dependencies: ["LosslessJSON"], exclude: ["DESIGN.md"]),
    .executableTarget(
      name: "Fuzzing",
      dependencies: ["GraphQL", "HTTPWire", "LosslessJSON", "Model"],
      path: "Targets",
      linkerSettings: [
        .linkedLibrary("stdc++"),
        .unsafeFlags(["-sanitize=address"]),
      ]),
  ]
)

for target in package.targets {
  target.swiftSettings = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Optimised for the number of runs, with the assertions of a debug build.
    .unsafeFlags(["-sanitize=fuzzer,address", "-assert-config", "Debug"]),
  ]
}
