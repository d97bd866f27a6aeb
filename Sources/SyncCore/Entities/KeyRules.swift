/// What a model says about the keys of all its entities.
package struct KeyRules: Sendable, Hashable {
    /// How they are spelled; nil for names as they come, and snake_case in exports.
    package var keys: KeyCase?
    /// Patterns of those that nothing is wanted of.
    package var ignore: [String]

    package init(keys: KeyCase? = nil, ignore: [String] = []) {
        self.keys = keys
        self.ignore = ignore
    }
}
