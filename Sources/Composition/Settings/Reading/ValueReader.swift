/// Turns raw values of one setting into typed ones and keeps what was wrong with them.
struct ValueReader {
  /// As it is called in messages: `types.Film.key`.
  let name: String
  /// What relative paths start from.
  let folder: String
  let isSecret: Bool

  private(set) var faults: [SettingsFault] = []
  /// A value carried a secret where none belongs: no message may show any of this setting's text.
  private(set) var hidesValue = false

  init(name: String, folder: String, isSecret: Bool) {
    self.name = name
    self.folder = folder
    self.isSecret = isSecret
  }

  mutating func one<Value>(_ raw: RawValue, _ form: TextForm<Value>) -> Value? {
    read(raw, form, subject: "`\(name)`")
  }

  /// A variable and a flag write a list with commas; a file may write a single element bare.
  mutating func list<Element: Hashable>(
    _ raw: RawValue, _ form: TextForm<Element>, countMin: Int
  ) -> [Element]? {
    let items = elements(of: raw)
    guard items.count >= countMin else {
      refuse(raw, "`\(name)` needs \(countMin) element at least")
      return nil
    }
    var values: [Element] = []
    var seen: Set<Element> = []
    for item in items {
      guard let value = read(item, form, subject: "each element of `\(name)`") else { continue }
      if seen.insert(value).inserted {
        values.append(value)
      } else {
        refuse(item, "`\(name)` has \(isSecret ? "an element" : item.shape) twice")
      }
    }
    return faults.isEmpty ? values : nil
  }

  mutating func expectList(_ raw: RawValue) {
    if case .list = raw.form { return }
    refuse(raw, "`\(name)` must be a list, not \(raw.shape)")
  }

  private func elements(of raw: RawValue) -> [RawValue] {
    switch (raw.form, raw.place) {
    case (.list(let items), _):
      items
    case (.text(let text), .environment), (.text(let text), .flag):
      text.split(separator: ",").map { part in
        RawValue(form: .text(part.trimmingBlanks), place: raw.place)
      }
    default:
      [raw]
    }
  }

  private mutating func read<Value>(
    _ raw: RawValue, _ form: TextForm<Value>, subject: String
  ) -> Value? {
    guard case .text(let text) = raw.form else {
      refuse(raw, "\(subject) must be \(form.noun), not \(raw.shape)")
      return nil
    }
    do throws(ValueRefusal) {
      return try form.parse(text, folder)
    } catch {
      hidesValue = hidesValue || error.hidesValue
      let shown = isSecret || error.hidesValue ? "" : ", not \(raw.shape)"
      let reason = error.reason.map { "; \($0)" } ?? ""
      refuse(raw, "\(subject) must be \(form.noun)\(shown)\(reason)")
      return nil
    }
  }

  mutating func refuse(_ raw: RawValue, _ message: String) {
    faults.append(SettingsFault(raw.place, message))
  }
}

extension Substring {
  fileprivate var trimmingBlanks: String {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}
