import Sync

extension ShortList {
    /// A line for each element, and one for all that are left out.
    ///
    /// - Parameter hint: How to see them, if that is possible.
    func lines(_ line: (Element) -> VisibleText, hint: VisibleText?) -> [VisibleText] {
        guard omittedCount > 0, !shown.isEmpty else { return shown.map(line) }
        let hint = hint.map { " (\($0))" as VisibleText } ?? ""
        return shown.map(line) + ["  and \(omittedCount) more\(hint)"]
    }
}

extension ShortList<VisibleText> {
    /// All on one line: `a, b and 3 more`.
    func text(between separator: VisibleText) -> VisibleText {
        shown.joined(separator: separator) + (omittedCount > 0 ? " and \(omittedCount) more" : "")
    }
}
