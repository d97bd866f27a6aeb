/// An error, and what there is to say besides: a way out, or what is done already.
struct RemarkedError: Error {
    let error: any Error
    let remark: VisibleText
}
