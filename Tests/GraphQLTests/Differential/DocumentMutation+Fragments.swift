import GraphQL
import TestSupport

extension DocumentMutation {
  static let fragments: [DocumentMutation] = [
    DocumentMutation(.knownTypeNames) { editor, _ in
      editor.editSelectionSet { set, _ in
        let fragment = InlineFragment(
          typeCondition: Name("Unknown"), selectionSet: SelectionSet([typename]))
        set.selections.append(.inlineFragment(fragment))
      }
    },
    DocumentMutation(.knownTypeNames) { editor, _ in
      editor.editFragment { fragment, _ in fragment.typeCondition.value += "s" }
    },
    DocumentMutation(.knownTypeNames) { editor, _ in
      editor.editOperation { operation, _ in
        guard !operation.variableDefinitions.isEmpty else { return }
        operation.variableDefinitions[0].type = .list(.nonNull(.named("Intt")))
      }
    },
    DocumentMutation(.fragmentsOnCompositeTypes) { editor, schema in
      let leaves = typeNames(schema) { !$0.isComposite }
      editor.editSelectionSet { set, random in
        let fragment = InlineFragment(
          typeCondition: Name(leaves.randomElement(using: &random) ?? "Int"),
          selectionSet: SelectionSet([typename]))
        set.selections.append(.inlineFragment(fragment))
      }
    },
    DocumentMutation(.fragmentsOnCompositeTypes) { editor, schema in
      let leaves = typeNames(schema) { !$0.isComposite }
      editor.editFragment { fragment, random in
        fragment.typeCondition = Name(leaves.randomElement(using: &random) ?? "Int")
      }
    },
    DocumentMutation(.uniqueFragmentNames) { editor, _ in
      let twins = editor.document.fragments.map(Definition.fragment)
      editor.document.definitions += twins
    },
    DocumentMutation(.uniqueFragmentNames) { editor, schema in
      let twin = Definition.fragment(fragment("Twin", on: schema.rootName(for: .query)))
      editor.document.definitions += [twin, twin]
    },
    DocumentMutation(.knownFragmentNames) { editor, _ in
      editor.editSelectionSet { set, _ in
        set.selections.append(.fragmentSpread(FragmentSpread(name: Name("Part9"))))
      }
    },
    DocumentMutation(.noUnusedFragments) { editor, schema in
      let name = schema.rootName(for: .query) ?? "Query"
      let fragment = FragmentDefinition(
        name: Name("Idle"), typeCondition: Name(name), selectionSet: SelectionSet([typename]))
      editor.document.definitions.append(.fragment(fragment))
    },
    DocumentMutation(.possibleFragmentSpreads) { editor, schema in
      let types = typeNames(schema, \.isComposite)
      editor.editSelectionSet { set, random in
        let fragment = InlineFragment(
          typeCondition: Name(types.randomElement(using: &random) ?? "Query"),
          selectionSet: SelectionSet([typename]))
        set.selections.append(.inlineFragment(fragment))
      }
    },
    DocumentMutation(.possibleFragmentSpreads) { editor, _ in
      let names = editor.document.fragments.map(\.name.value)
      editor.editSelectionSet { set, random in
        guard let name = names.randomElement(using: &random) else { return }
        set.selections.append(.fragmentSpread(FragmentSpread(name: Name(name))))
      }
    },
    DocumentMutation(.noFragmentCycles) { editor, _ in
      let names = editor.document.fragments.map(\.name.value)
      editor.editFragment { fragment, random in
        guard let name = names.randomElement(using: &random) else { return }
        fragment.selectionSet.selections.append(
          .fragmentSpread(FragmentSpread(name: Name(name))))
      }
    },
    DocumentMutation(.noFragmentCycles) { editor, schema in
      let root = schema.rootName(for: .query)
      let names = (0..<Int.random(in: 1...4, using: &editor.random)).map { "Loop\($0)" }
      for (index, name) in names.enumerated() {
        let next =
          index + 1 < names.count ? names[index + 1] : names.randomElement(using: &editor.random)
        editor.document.definitions.append(.fragment(fragment(name, on: root, spreading: next)))
      }
    },
  ]

  private static func fragment(
    _ name: String, on type: String?, spreading other: String? = nil
  ) -> FragmentDefinition {
    let spread = other.map { Selection.fragmentSpread(FragmentSpread(name: Name($0))) }
    return FragmentDefinition(
      name: Name(name), typeCondition: Name(type ?? "Query"),
      selectionSet: SelectionSet([typename] + [spread].compactMap { $0 }))
  }
}
