/// What a payload says about the stored rows it leaves out.
///
/// Only about those of its own entity: a list of children nested in a record is always all there is of it.
public enum PayloadKind: Sendable {
    /// The payload is all there is: rows in scope that it leaves out are deleted.
    case snapshot
    /// The payload is what changed: rows that it leaves out are kept.
    case delta
    /// The payload is one page of many, which together are all there is. Each is applied in its own transaction;
    /// ``SyncRun/finish()`` deletes what no page mentioned.
    case page(of: SyncRun)

    /// The run a page is part of.
    package var run: SyncRun? {
        guard case .page(let run) = self else { return nil }
        return run
    }
}
