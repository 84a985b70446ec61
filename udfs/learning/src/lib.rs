//! Graph models and their training, on candle.
