/// Conversions between the spellings of names in JSON and in Swift.
package enum Inflection {
    /// The words that are written in capitals inside a camelCase name.
    package static let acronyms: Set<String> = ["uuid", "id", "pdf", "url", "png", "jpg", "uri", "json", "xml"]

    /// Returns a name in snake_case: `userIDFirst` → `user_id_first`, `avatarURLString` → `avatar_url_string`.
    package static func snakeCase(_ name: String) -> String {
        words(atCapitalsOf: name).map { $0.lowercased() }.joined(separator: "_").replacing("__", with: "_")
    }

    /// Returns the words of a name in any spelling, without changing their case: `userIDs` → `user`, `IDs`.
    static func words(_ name: String) -> [String] {
        words(atCapitalsOf: name).flatMap { $0.split { $0 == "_" || $0 == "-" || $0 == " " }.map(String.init) }
    }

    private static func words(atCapitalsOf name: String) -> [String] {
        let characters = Array(name)
        var words: [String] = []
        var word = ""
        for (index, character) in characters.enumerated() {
            if character.isUppercase, !word.isEmpty, startsWord(at: index, in: characters) {
                words.append(word)
                word = ""
            }
            word.append(character)
        }
        words.append(word)
        return words
    }

    /// Returns whether the capital at an index begins a word. It does after a character that is neither a capital nor
    /// `_`, and between a capital and a lowercase letter. In the plural of an acronym (`userIDs`), the last capital
    /// does not begin a word.
    private static func startsWord(at index: Int, in characters: [Character]) -> Bool {
        let previous = characters[index - 1]
        if previous == "_" { return false }
        if !previous.isUppercase { return true }
        guard index + 1 < characters.count, characters[index + 1].isLowercase else { return false }
        let isLastLetter = index + 2 == characters.count || characters[index + 2].isUppercase
        let isPlural = characters[index + 1] == "s" && isLastLetter
        guard isPlural else { return true }
        var start = index
        while start > 0, characters[start - 1].isUppercase { start -= 1 }
        return !acronyms.contains(String(characters[start...index]).lowercased())
    }

    /// Returns a key in camelCase: `driver_identifier` → `driverIdentifier`, `user_id` → `userID`, `_id` → `id`.
    ///
    /// If the key has no underscore, only its first letter changes. A key with an underscore gives nil if it has no
    /// word, or if it has characters other than letters, digits, `_`, `-` and spaces.
    package static func camelCase(_ key: String) -> String? { camelCase(key, capitalizesAcronyms: true) }

    /// Returns the camelCase forms of a key: `userID` and `userId` for `user_id`.
    package static func camelCaseVariants(_ key: String) -> [String] {
        let variants = [true, false].compactMap { camelCase(key, capitalizesAcronyms: $0) }
        return variants.count == 2 && variants[0] == variants[1] ? [variants[0]] : variants
    }

    private static func camelCase(_ key: String, capitalizesAcronyms: Bool) -> String? {
        guard key.contains("_") else { return key.prefix(1).lowercased() + key.dropFirst() }
        guard key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == " " }) else { return nil }
        let words = key.split { $0 == "_" || $0 == "-" || $0 == " " }.map(String.init)
        guard let first = words.first else { return nil }
        let start = isShouted(first) ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
        return words.dropFirst().reduce(into: start) { name, word in
            if capitalizesAcronyms, acronyms.contains(word.lowercased()) {
                name += word.uppercased()
            } else {
                let rest = isShouted(word) ? word.dropFirst().lowercased() : String(word.dropFirst())
                name += word.prefix(1).uppercased() + rest
            }
        }
    }

    private static func isShouted(_ word: String) -> Bool { word.count > 1 && word.uppercased() == word }

    /// Words with irregular plurals. They also apply to the last word of a longer name.
    static let irregular: [(plural: String, singular: String)] = [
        ("people", "person"), ("children", "child"), ("series", "series"), ("species", "species"), ("news", "news"),
        ("movies", "movie"), ("cookies", "cookie"), ("calories", "calorie"), ("ties", "tie"), ("statuses", "status"),
        ("bonuses", "bonus"), ("buses", "bus"), ("viruses", "virus"), ("campuses", "campus"), ("caches", "cache"),
        ("heroes", "hero"), ("quizzes", "quiz"), ("axes", "axis"),
    ]

    /// Returns the singular of a word: `tags` → `tag`, `companies` → `company`, `addresses` → `address`. A word that
    /// does not end like a plural is unchanged.
    ///
    /// Only the last word of a name in camelCase or snake_case changes: `homeAddresses` → `homeAddress`.
    package static func singular(_ word: String) -> String {
        let lower = word.lowercased()
        for (plural, singular) in irregular where lower.hasSuffix(plural) && isLastWord(plural, of: word) {
            return String(word.dropLast(plural.count - 1)) + String(singular.dropFirst())
        }
        if lower.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
        if ["sses", "shes", "ches", "xes"].contains(where: lower.hasSuffix) { return String(word.dropLast(2)) }
        if lower.hasSuffix("s"), !lower.hasSuffix("ss"), !lower.hasSuffix("us"), !lower.hasSuffix("is") {
            return String(word.dropLast())
        }
        return word
    }

    /// Returns whether `ending` is the last word of a name. The result is true for `heroes` in `superHeroes` and
    /// `super_heroes`, and false for `ties` in `parties`.
    private static func isLastWord(_ ending: String, of word: String) -> Bool {
        let rest = word.dropLast(ending.count)
        guard let previous = rest.last, let first = word.dropFirst(rest.count).first else { return rest.isEmpty }
        return first.isUppercase || previous == "_"
    }
}

/// Names of entities, attributes and relationships for JSON keys. All are valid names of tables and columns.
extension Inflection {
    /// The names by which SQLite also addresses the rowid.
    private static let reserved: Set<String> = ["rowid", "oid"]

    /// Returns the name of an attribute or relationship for a JSON key: `first_name` → `firstName`, `@type` → `type`,
    /// `ISBN` → `isbn`, `2fa` → `value2fa`.
    package static func memberName(_ key: String) -> String {
        let words = key.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        guard !words.isEmpty else { return "value" }
        // `camelCase(_:)` changes only the first letter of a single word, such as ISBN.
        let isShouted = words.count == 1 && words[0].count > 1 && words[0] == words[0].uppercased()
        let name = isShouted ? words[0].lowercased() : camelCase(words.joined(separator: "_")) ?? words.joined()
        if name.first?.isNumber ?? true { return "value" + name }
        return reserved.contains(name.lowercased()) ? name + "Value" : name
    }

    /// Returns the name of an entity for a JSON key: `line_items` → `LineItem`. Only the key of a list is made
    /// singular.
    package static func entityName(_ key: String, isList: Bool) -> String {
        let name = memberName(isList ? singular(key) : key)
        let entity = name.prefix(1).uppercased() + name.dropFirst()
        return ["sync", "sqlite"].contains(entity.lowercased()) ? entity + "Entity" : entity
    }
}

// MARK: - Plural

extension Inflection {
    /// Returns the plural of a word: `tag` → `tags`, `company` → `companies`, `address` → `addresses`. For most words,
    /// this function is the inverse of ``singular(_:)``.
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

// MARK: - KeyCase+Spelling

extension KeyCase {
    /// Returns a name in this spelling: `homeTown` → `home-town` for `.kebab`. Leading underscores are kept, but
    /// `.snake` joins two underscores to one.
    package func key(for name: String) -> String {
        switch self {
        case .exact: return name
        case .snake: return Inflection.snakeCase(name)
        case .kebab: return Self.joined(name, by: "-") { $1.lowercased() }
        case .camel: return Self.joined(name, by: "") { $0 == 0 ? Self.decapitalized($1) : Self.capitalized($1) }
        case .pascal: return Self.joined(name, by: "") { Self.capitalized($1) }
        }
    }

    private static func joined(_ name: String, by separator: String, _ word: (Int, String) -> String) -> String {
        let start = name.prefix { $0 == "_" }
        let words = Inflection.words(String(name.dropFirst(start.count)))
        return start + words.enumerated().map { word($0.offset, $0.element) }.joined(separator: separator)
    }

    private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    /// Returns a word with its first letter in lower case. A word in capitals, such as `URL`, is lowercased as a whole.
    private static func decapitalized(_ word: String) -> String {
        let isShouted = word == word.uppercased()
        return isShouted ? word.lowercased() : word.prefix(1).lowercased() + word.dropFirst()
    }

    /// Returns a key with its first letter in lower case if the spelling is `.pascal` (`Type` → `type`), else
    /// unchanged.
    func withoutCapital(_ key: String) -> String {
        self == .pascal ? key.prefix(1).lowercased() + key.dropFirst() : key
    }
}

// MARK: - String+FoldedForSQL

extension String {
    /// The text with A to Z lowercased and all other characters unchanged, as SQLite compares names.
    package var foldedForSQL: String {
        String(
            decoding: utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | .caseBit : $0 }, as: UTF8.self)
    }
}
