import Model

extension SettingTable {
  static let generate = SettingSection(
    "generate", "Client code that `larder generate` writes; see [generate.md](generate.md).",
    [
      SettingKey(
        "generate.scalars.<Scalar>", membersOf: \.generate.scalars, named: .graphQLName,
        fresh: ScalarForm.string, \.self, .one(.choice), example: "Date",
        doc: "Form of a scalar's values in generated code. Without it `DateTime`, `UUID` and other "
          + "scalars that are texts by their common names are `String`, and scalars of which nothing "
          + "is known are `JSON`."),
      SettingKey(
        "generate.package", \.generate.package, .one(.packageName), example: "com.example.larder",
        doc: "Package of generated Kotlin files."),
    ])
}
