package import Model

/// Settings of generated client code.
package struct GenerateSettings: Sendable {
  /// The forms of scalars by name; others have the form that their name suggests.
  package var scalars: [String: ScalarForm] = [:]
  /// The package of Kotlin files.
  package var package = "larder"
}
