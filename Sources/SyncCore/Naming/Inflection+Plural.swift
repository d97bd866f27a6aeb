extension Inflection {
    /// `tag` → `tags`, `company` → `companies`, `address` → `addresses`: the way back from ``singular(_:)``.
    package static func plural(_ word: String) -> String {
        let lower = word.lowercased()
        for (plural, singular) in irregular where lower.hasSuffix(singular) {
            return String(word.dropLast(singular.count - 1)) + String(plural.dropFirst())
        }
        if lower.hasSuffix("y"), let before = lower.dropLast().last, !"aeiou".contains(before) {
            return word.dropLast() + "ies"
        }
        if ["s", "x", "z", "ch", "sh"].contains(where: lower.hasSuffix) { return word + "es" }
        return word + "s"
    }
}
