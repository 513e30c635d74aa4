/// Every fault of all sources, sorted by place; never empty. The caller shows them and stops: a
/// service half told what to do is not started.
package struct SettingsFaults: Error, CustomStringConvertible {
  package let faults: [SettingsFault]

  init(_ faults: [SettingsFault]) {
    self.faults = faults.sorted { ($0.place, $0.message) < ($1.place, $1.message) }
  }

  package var description: String {
    faults.map(\.description).joined(separator: "\n")
  }
}
