// SPDX-License-Identifier: Apache-2.0
// Replaces the runtime's header of this name, which generated code includes. Contains only the parts of the runtime
// that gc3 uses: the original also includes InterpreterDataReader.h, which clang rejects (a const vector without an
// initialiser).
#pragma once

#include "antlr4-common.h"

#include "ANTLRInputStream.h"
#include "BailErrorStrategy.h"
#include "CommonTokenStream.h"
#include "DefaultErrorStrategy.h"
#include "Exceptions.h"
#include "FailedPredicateException.h"
#include "InputMismatchException.h"
#include "Lexer.h"
#include "NoViableAltException.h"
#include "Parser.h"
#include "ParserRuleContext.h"
#include "Vocabulary.h"
#include "atn/ATN.h"
#include "atn/ATNDeserializer.h"
#include "atn/LexerATNSimulator.h"
#include "atn/ParserATNSimulator.h"
#include "atn/PredictionContext.h"
#include "atn/PredictionMode.h"
#include "dfa/DFA.h"
#include "misc/IntervalSet.h"
#include "support/CPPUtils.h"
#include "tree/ErrorNode.h"
#include "tree/ParseTree.h"
#include "tree/TerminalNode.h"
