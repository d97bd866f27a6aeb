import Sync

extension SyncError {
    /// The error with its place, where there are lists of records instead, and the first of its problems on lines of their own.
    var visible: VisibleText {
        let place = self.place.map { "\($0)" as VisibleText }.joined(separator: ", ")
        let line: VisibleText =
            "\(message)" + (place.isEmpty ? "" : " (\(place))") + (underlying.map { ": \($0)" } ?? "")
            + (keyOptions.isEmpty ? "" : "; there are lists inside: \(keyOptions.joined(separator: ", "))")
        let problems = ShortList(problems).lines({ "  \($0.path): \($0.message)" }, hint: nil)
        let remedies = remedies.map { VisibleText(lines: $0) }
        return ([line] + problems + remedies).joined(separator: "\n")
    }
}
