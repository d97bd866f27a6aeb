/// Values of a certain kind. Any other value is rejected with 400 and the name of the member.
extension JSON {
    /// A string.
    func text(for name: String) throws(Refusal) -> String {
        guard let text else { throw Refusal(400, "\(name) is not a string") }
        return text
    }

    /// A string that is not empty.
    func word(for name: String) throws(Refusal) -> String {
        guard let text, !text.isEmpty else { throw Refusal(400, "\(name) is not a word") }
        return text
    }

    /// A list of strings that are not empty.
    func words(for name: String) throws(Refusal) -> [String] {
        guard let elements else { throw Refusal(400, "\(name) is not a list of words") }
        var words: [String] = []
        for element in elements { words.append(try element.word(for: name)) }
        return words
    }

    /// A boolean.
    func flag(for name: String) throws(Refusal) -> Bool {
        guard case .bool(let flag) = self else { throw Refusal(400, "\(name) is not true or false") }
        return flag
    }

    /// A whole number above 0.
    func positive(for name: String) throws(Refusal) -> Int {
        guard let whole, whole > 0 else { throw Refusal(400, "\(name) is not a whole number above 0") }
        return whole
    }

    /// A raw value of a type.
    func choice<Choice>(for name: String) throws(Refusal) -> Choice
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let choice = text.flatMap(Choice.init(rawValue:)) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal(400, "\(name) is none of \(known)")
        }
        return choice
    }
}
