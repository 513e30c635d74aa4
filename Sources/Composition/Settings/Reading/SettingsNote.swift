/// Something accepted that does not do what its writer may expect.
package struct SettingsNote: Hashable, Sendable, CustomStringConvertible {
  package let place: SettingPlace
  package let message: String

  package var description: String { "\(place): \(message)" }
}
