/// What an engine forgets.
public enum EngineReset: String, Sendable, Hashable, CaseIterable {
    /// Where pulls ended, and which versions rows had: the next pull is a whole one, and rows are told by their keys. Edits
    /// stay, also those that are still to be found because triggers were away.
    case relink
    /// All rows of the registered entities, and all edits of them: the next pull begins with nothing. Rows of other entities that
    /// were kept in step stay, but for those that go along by the delete rules, with what is known of them and what was edited.
    case local
    /// What the service is known to have: every row is sent as a new one. For a service that was emptied: one that has the rows still
    /// gets them a second time, unless ids come from here.
    case remote
}
