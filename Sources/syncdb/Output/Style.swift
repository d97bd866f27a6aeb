/// Colours and weights for a terminal; none of them where the output goes elsewhere.
struct Style {
    let isOn: Bool

    static let plain = Style(isOn: false)

    func green(_ text: VisibleText) -> VisibleText { wrapped(text, "32") }
    func yellow(_ text: VisibleText) -> VisibleText { wrapped(text, "33") }
    func red(_ text: VisibleText) -> VisibleText { wrapped(text, "31") }
    func bold(_ text: VisibleText) -> VisibleText { wrapped(text, "1") }

    private func wrapped(_ text: VisibleText, _ code: String) -> VisibleText {
        isOn && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
