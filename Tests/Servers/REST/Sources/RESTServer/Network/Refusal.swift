/// Why a request is not carried out. Its body is `{"message": …}`, unless the row is what the client needs to see.
struct Refusal: Error {
    /// The number that says what kind of refusal it is.
    let status: Int
    /// What is wrong, in words.
    let message: String
    /// Stands as the body in place of the message: the row that a precondition did not hold for.
    var body: JSON?
    /// What goes with the status, such as `Allow`.
    var headers: [String: String] = [:]

    /// A refusal whose body is the message.
    init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The method is not one of those that the path has.
    init(allowing methods: String...) {
        self.init(405, "the method is not allowed here")
        headers = ["Allow": methods.joined(separator: ", ")]
    }

    /// The refusal as an answer.
    var answer: Answer {
        var answer = Answer(status: status, json: body ?? ["message": .string(message)])
        answer.headers.merge(headers) { _, own in own }
        return answer
    }
}
