/// A value of a row as people see it, and how many columns of a terminal it takes.
struct VisibleCell {
    let text: String
    let width: Int

    /// - Parameter limit: Of a longer text the beginning is shown, and how much more there is.
    init(_ value: some Collection<UInt8>, upTo limit: Int?) {
        // The common case needs neither escapes nor a table of widths.
        if value.count <= limit ?? .max, value.allSatisfy({ 0x20..<0x7F ~= $0 }) {
            (text, width) = (String(decoding: value, as: UTF8.self), value.count)
        } else {
            text = VisibleText(String(decoding: value, as: UTF8.self), upTo: limit ?? .max / 2).text
            width = DisplayWidth.of(text)
        }
    }

    private init(text: String, width: Int) { (self.text, self.width) = (text, width) }

    func cut(to width: Int) -> VisibleCell {
        guard self.width > width else { return self }
        let cut = DisplayWidth.cut(text, to: width)
        return VisibleCell(text: cut.text, width: cut.width)
    }
}
