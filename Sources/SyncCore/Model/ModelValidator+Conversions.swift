// What a model says about keys and values beyond names and types.
extension ModelValidator {
    mutating func checkKeyRules(_ rules: KeyRules) {
        checkPatterns(rules.ignore, at: .root)
        for entity in entities {
            checkPatterns(entity.ignore, at: .entity(entity.name))
            for attribute in entity.attributes where isReadable(entity.name, attribute.name) {
                checkConversion(of: attribute, at: .attribute(attribute.name, of: entity.name))
            }
        }
    }

    private mutating func checkPatterns(_ patterns: [String], at path: ModelPath) {
        for problem in patterns.compactMap(IgnoredKeys.problem) { note(path["ignore"], problem) }
    }

    private mutating func checkConversion(of attribute: SyncModel.Attribute, at path: ModelPath) {
        if attribute.transformers.contains("") { note(path["transformer"], "must not be empty") }
        let givesList = attribute.transformers.last { BuiltInTransformer(rawValue: $0)?.isAboutText != true }
        if givesList == BuiltInTransformer.commaSeparated.rawValue, attribute.type != .json,
            attribute.type != .transformable
        {
            note(path["transformer"], "'commaSeparated' gives a list, which only the type json keeps")
        }
        guard let format = attribute.format else { return }
        if attribute.type != .date {
            note(path["format"], "only a date has a format; the type is \(attribute.type.rawValue)")
        } else if let problem = format.problem {
            note(path["format"], problem)
        }
    }
}

extension BuiltInTransformer {
    /// Whether it gives a text for a text, and a list for a list.
    fileprivate var isAboutText: Bool { self != .commaSeparated }
}
