import Model

extension TextForm where Value == DateFormat {
  static var dateFormat: Self {
    Self(
      noun: "iso8601, seconds, milliseconds or a pattern such as dd.MM.yyyy HH:mm",
      parse: { text, _ throws(ValueRefusal) in
        guard let format = DateFormat(text) else { throw ValueRefusal() }
        return format
      },
      print: \.name)
  }
}
