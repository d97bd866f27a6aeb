import ArgumentParser
import Sync

/// `--max-delete 20` or `--max-delete 10%`.
struct MaximumDeletion: ExpressibleByArgument {
    /// Nil where everything may be deleted.
    let guardValue: DeletionGuard?

    /// What holds when the option is not given.
    static let standard = MaximumDeletion(guardValue: .half)

    private init(guardValue: DeletionGuard?) { self.guardValue = guardValue }

    init?(argument: String) {
        if argument.hasSuffix("%") {
            guard let percent = Double(argument.dropLast()), (0...100).contains(percent) else { return nil }
            guardValue = percent == 100 ? nil : .fraction(percent / 100)
        } else {
            guard let rows = Int(argument), rows >= 0 else { return nil }
            guardValue = .rows(rows)
        }
    }
}
